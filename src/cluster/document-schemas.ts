// The schemas of the documents in control.ts: what a command reads from a running Pointsman, and what the description
// of its admin API shows. Fields that a newer version adds are ignored.
import { z } from 'zod';
import type { ClusterReport, HistoryEntry, OperationResult, PlannedRequest } from './control.ts';

const name = z.string();
const anything = z.record(z.string(), z.unknown());

const memberReport = z.object({
  name,
  role: z.string().describe('leader, standby_leader, sync_standby, quorum_standby, replica or unknown.'),
  state: z.string().nullable(),
  api: z.string().nullable().describe('The base URL of its management API.'),
  postgres: z.string().nullable().describe('host:port of PostgreSQL.'),
  timeline: z.number().nullable(),
  lag_bytes: z
    .number()
    .nullable()
    .describe('Bytes behind the leader: replayed if the version reports it, else received.'),
  wal_position: z
    .number()
    .nullable()
    .default(null)
    .describe('Bytes, from its own report: written by a leader, replayed by any other member.'),
  indicators: z
    .array(z.enum(['pause', 'cluster_unlocked', 'failsafe_mode_is_active']))
    .default([])
    .describe('Of its own report: the cluster is not in its ordinary state.'),
  tags: z.record(z.string(), z.string()),
  pending_restart: z.boolean(),
  pending_restart_reason: z
    .record(z.string(), z.object({ old_value: z.string().nullable(), new_value: z.string().nullable() }))
    .exactOptional()
    .describe('The parameters that need the restart.'),
  scheduled_restart: z.string().exactOptional().describe('ISO 8601.'),
});

/** Of a refused request. */
export const failureDocument = z.object({
  error: z.string().describe('One sentence.'),
  problems: z.array(z.string()).optional().describe('One sentence for each thing to correct, if there are several.'),
});

export const clusterReport = z.object({
  scope: z.string().nullable(),
  paused: z.boolean(),
  leader: name.nullable(),
  members: z.array(memberReport),
  reports_restarts: z
    .boolean()
    .default(true)
    .describe('False: this API has no fields for pending and scheduled restarts, so that their absence says nothing.'),
  scheduled_switchover: z
    .object({ at: z.string().describe('ISO 8601 with offset.'), from: name.nullable(), to: name.nullable() })
    .nullable(),
  refused_members: z.array(z.object({ name, why: z.string() })),
}) satisfies z.ZodType<ClusterReport>;

const historyEntry = z.object({
  timeline: z.number(),
  lsn: z.number().describe('Bytes.'),
  reason: z.string(),
  at: z.string().nullable().describe('ISO 8601.'),
  new_leader: name.nullable(),
}) satisfies z.ZodType<HistoryEntry>;

export const clusterHistory = z.object({ history: z.array(historyEntry) });

export const clusterConfiguration = z.object({ config: anything });

/** Of an operation with ?dry_run=true. */
export const plannedRequest = z.object({
  planned: z.object({
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
    url: z.string(),
    body: z.unknown().optional(),
  }) satisfies z.ZodType<PlannedRequest>,
});

const text = z.string().describe("One sentence, with the member's own reason.");
const reason = z.string().describe("The member's body, on one line.");

export const operationResult = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['done', 'scheduled']), text, reason, config: anything.exactOptional() }),
  z.object({
    kind: z.enum(['invalid', 'precondition', 'failed', 'unauthorized', 'unexpected']),
    status: z.number().describe('Of the answer of the management API.'),
    text,
    reason,
  }),
  z.object({ kind: z.literal('refused'), text: z.string().describe('The rule that forbids it. Nothing was sent.') }),
  z.object({
    kind: z.literal('no_answer'),
    text,
    may_have_happened: z.boolean().describe('The request was sent, so the operation may be under way.'),
  }),
]) satisfies z.ZodType<OperationResult>;
