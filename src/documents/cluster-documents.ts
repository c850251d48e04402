// The answers about the cluster: its report, its history, its configuration, and each operation on it. `--json` of
// `pointsman cluster` prints the same documents. Null: unknown, or not reported by this version of the management API.
import { z } from 'zod';
import { anything, byName, list } from './document-parts.ts';

const name = z.string();
/** Read from another Pointsman, it may be one of a later version. */
const indicator: z.ZodType<string> = z.enum(['pause', 'cluster_unlocked', 'failsafe_mode_is_active']);
const method: z.ZodType<string> = z.enum(['POST', 'PUT', 'PATCH', 'DELETE']);

const memberReport = z.strictObject({
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
  indicators: list(indicator)
    .default([])
    .describe('How its own report says that the cluster is not in its ordinary state.'),
  tags: byName(z.string()),
  pending_restart: z.boolean(),
  pending_restart_reason: byName(z.strictObject({ old_value: z.string().nullable(), new_value: z.string().nullable() }))
    .exactOptional()
    .describe('The parameters that need the restart.'),
  scheduled_restart: z.string().exactOptional().describe('ISO 8601.'),
});

export const clusterReport = z.strictObject({
  scope: z.string().nullable(),
  paused: z.boolean(),
  leader: name.nullable(),
  members: list(memberReport),
  reports_restarts: z
    .boolean()
    .default(true)
    .describe('False: this API has no fields for pending and scheduled restarts, so that their absence says nothing.'),
  scheduled_switchover: z
    .strictObject({ at: z.string().describe('ISO 8601 with offset.'), from: name.nullable(), to: name.nullable() })
    .nullable(),
  refused_members: list(z.strictObject({ name, why: z.string() })),
});

const historyEntry = z.strictObject({
  timeline: z.number(),
  lsn: z.number().describe('Bytes.'),
  reason: z.string(),
  at: z.string().nullable().describe('ISO 8601.'),
  new_leader: name.nullable(),
});

export const clusterHistory = z.strictObject({ history: list(historyEntry) });

export const clusterConfiguration = z.strictObject({ config: anything });

/** The request that an operation with ?dry_run=true would send, without credentials. */
export const plannedRequest = z.strictObject({
  planned: z.strictObject({
    method,
    url: z.string(),
    body: z.unknown().optional(),
  }),
});

const text = z.string().describe("One sentence, with the member's own reason.");
const reason = z.string().describe("The member's body, on one line.");

/**
 * `invalid`: 400, and Patroni's 422 for times. `precondition`: 412, and Patroni's 404 and 409. `failed`: 5xx.
 * `unauthorized`: 401 and 403. `unexpected`: any other status.
 */
export const operationResult = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['done', 'scheduled']), text, reason, config: anything.exactOptional() }),
  z.strictObject({
    kind: z.enum(['invalid', 'precondition', 'failed', 'unauthorized', 'unexpected']),
    status: z.number().describe('The status of the answer of the management API.'),
    text,
    reason,
  }),
  z.strictObject({
    kind: z.literal('refused'),
    text: z.string().describe('The rule that forbids it. Nothing was sent.'),
  }),
  z.strictObject({
    kind: z.literal('no_answer'),
    text,
    may_have_happened: z.boolean().describe('The request was sent, so the operation may be under way.'),
  }),
]);

const error = z.string().describe('The text again, for clients that know no other field.');
const [succeeded, refusedThere, refusedHere, unanswered] = operationResult.options;

/** The result as an answer of the admin API. */
export const operationAnswer = z.discriminatedUnion('kind', [
  succeeded,
  refusedThere.extend({ error }),
  refusedHere.extend({ error }),
  unanswered.extend({ error }),
]);

export type MemberReport = z.infer<typeof memberReport>;
export type ClusterReport = z.infer<typeof clusterReport>;
export type HistoryEntry = z.infer<typeof historyEntry>;
export type ClusterConfiguration = Readonly<Record<string, unknown>>;
export type PlannedRequest = z.infer<typeof plannedRequest>['planned'];
export type OperationResult = z.infer<typeof operationResult>;
