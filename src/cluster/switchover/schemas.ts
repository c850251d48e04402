// The schemas of the switchover's documents: what the command reads from a running Pointsman. Fields that a newer
// version adds are ignored.
import { z } from 'zod';
import { PIN_REASONS } from '../../model/moves.ts';
import { OPERATION_OUTCOMES } from '../../reports/events.ts';
import { clusterReport } from '../document-schemas.ts';
import { PHASES } from './switchover-document.ts';
import type { OperationDocument } from './switchover-document.ts';
import type { PlanOfPrimary } from './plan.ts';

const name = z.string();
const ms = z.number();

export const planDocument = z.object({
  from: name.nullable(),
  to: name.nullable().describe('Null: the cluster chooses.'),
  candidates: z.array(
    z.object({
      name,
      role: z.string(),
      state: z.string().nullable(),
      timeline: z.number().nullable(),
      lag_bytes: z.number().nullable(),
      eligible: z.boolean(),
      why: z.string().nullable().describe('Why it cannot follow the primary.'),
    }),
  ),
  transaction_timeout_ms: ms,
  longest_hold_ms: ms.describe('New clients wait no longer than this because of the switchover.'),
  problems: z.array(z.string()).describe('Empty: the switchover can begin.'),
  warnings: z.array(z.string()),
  sessions_on_primary: z.number().nullable(),
  unreadable_sessions_on_primary: z
    .number()
    .nullable()
    .describe('Their encryption is with the server: they are cut at the end of the time for transactions.'),
  moves: z
    .object({
      movable: z.number(),
      stays: z.partialRecord(z.enum(PIN_REASONS), z.number()),
      unknown: z.number(),
    })
    .nullable(),
  stays_text: z.string().nullable().default(null),
}) satisfies z.ZodType<PlanOfPrimary>;

export const operationDocument = z.object({
  id: z.string(),
  kind: z.literal('switchover'),
  state: z.enum(['running', 'ended']),
  outcome: z.enum(OPERATION_OUTCOMES).nullable(),
  why: z.string().nullable().describe('One sentence about the outcome.'),
  started_at: z.string().describe('ISO 8601.'),
  duration_ms: ms,
  phase: z.enum(PHASES).describe('The last phase that began.'),
  phases: z.array(
    z.object({
      phase: z.enum(PHASES),
      started_at: z.string(),
      duration_ms: ms.nullable().describe('Null while it runs.'),
    }),
  ),
  from: name.nullable(),
  to: name.nullable().describe('The member that was asked for. Null: the cluster chooses.'),
  transaction_timeout_ms: ms,
  sessions: z.object({
    at_start: z.number().describe('On the primary when the drain began.'),
    held: z.number().describe('Clients that waited.'),
    waiting: z.number(),
    longest_wait_ms: ms,
    not_served: z.number().describe('Of the clients that waited, the ones that were refused.'),
    ended: z.number().describe('Ended between two transactions.'),
    parked: z.number().describe('Left the primary instead of ending.'),
    moved: z.number().describe('Of these, the ones that go on.'),
    move_failed: z.number().describe('Of these, the ones that could not go on.'),
    cut: z.number().describe('Cut at the end of the time for transactions.'),
    lost: z.number().describe('Ended by the server, or by other rules.'),
  }),
  held_ms: ms.nullable(),
  switch_ms: ms.nullable().describe('From the request to the proof of the next primary.'),
  without_primary_ms: ms.nullable().describe('From the step-down of the old primary to the proof of the next one.'),
  primary: name.nullable().describe('The member that takes new clients of the primary now.'),
  cluster: clusterReport.nullable().describe('As the members report it after the end.'),
}) satisfies z.ZodType<OperationDocument>;

export const busyDocument = z.object({ error: z.string(), operation: operationDocument.optional() });
