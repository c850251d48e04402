// The answers about the switchover that holds clients.
import { z } from 'zod';
import { PIN_REASONS } from '../model/moves.ts';
import { OPERATION_OUTCOMES } from '../reports/operation-events.ts';
import { failure } from './action-answers.ts';
import { clusterReport } from './cluster-documents.ts';
import { count, list, time } from './document-parts.ts';

export const PHASES = ['check', 'schedule', 'hold', 'drain', 'switch', 'confirm', 'release'] as const;

const member = z.string();
const milliseconds = z.number().min(0);

const candidate = z.strictObject({
  name: member,
  role: z.string(),
  state: z.string().nullable(),
  timeline: z.number().nullable(),
  lag_bytes: z.number().nullable(),
  eligible: z.boolean(),
  why: z.string().nullable().describe('The reason against it.'),
});

export const planDocument = z.strictObject({
  from: member.nullable(),
  to: member.nullable().describe('Null: the cluster chooses.'),
  candidates: list(candidate),
  transaction_timeout_ms: milliseconds,
  longest_hold_ms: milliseconds.describe('New clients wait no longer than this because of the switchover.'),
  fleet: z
    .strictObject({
      ahead_ms: milliseconds.describe('The cluster switches over this long after the request.'),
      hold_before_ms: milliseconds.describe('New clients wait here from this long before that time.'),
    })
    .nullable()
    .describe('The cluster schedules the switchover, so that each Pointsman takes part. Null: this one alone.'),
  problems: list(z.string()).describe('One sentence each. Empty: the switchover can begin.'),
  warnings: list(z.string()),
  sessions_on_primary: count.nullable().describe('Connecting or connected, in all pools. Null: there is no primary.'),
  unreadable_sessions_on_primary: count
    .nullable()
    .describe('Those of them whose encryption is with the server. They are cut at the end of the time.'),
  moves: z
    .strictObject({
      movable: count.describe('They go on with the next primary.'),
      stays: z.partialRecord(z.enum(PIN_REASONS), count).describe('They end, by the reason why they cannot move.'),
      unknown: count.describe('In a transaction now, not asked in time, or in a worker that did not answer.'),
    })
    .nullable()
    .describe('The sessions on the primary were asked whether they can move. Null: moves is not configured.'),
  stays_text: z
    .string()
    .nullable()
    .describe('Why sessions stay, in words: 12 listen, 1 holds an advisory lock. Null: none stays.'),
});

const phase = z.strictObject({
  phase: z.enum(PHASES),
  started_at: time,
  duration_ms: milliseconds.nullable().describe('Null while it runs.'),
});

const sessionCounts = z.strictObject({
  at_start: count.describe('On the primary when the drain began, in all pools.'),
  held: count.describe('Clients that waited.'),
  waiting: count.describe('Clients that wait now.'),
  longest_wait_ms: milliseconds,
  not_served: count.describe('Held clients that were refused before there was a primary.'),
  ended: count.describe('Between two transactions.'),
  parked: count.describe('Left the primary instead of ending. Their clients wait for the next server.'),
  aborted: count.describe('Parked sessions whose transaction was rolled back for that (moves.on_stays: abort).'),
  moved: count.describe('Parked sessions that go on: with the next primary, or with the old one if it stays.'),
  move_failed: count.describe('Parked sessions that ended because they could not go on.'),
  cut: count.describe('In a transaction at the end of the time for it, or with TLS that cannot be read.'),
  lost: count.describe('Ended by the server, or by other rules, after the drain began.'),
});

export const operationDocument = z.strictObject({
  id: z.string(),
  kind: z.literal('switchover'),
  state: z.enum(['running', 'ended']),
  outcome: z.enum(OPERATION_OUTCOMES).nullable(),
  why: z.string().nullable().describe('One sentence about the outcome.'),
  started_at: time,
  duration_ms: milliseconds,
  phase: z.enum(PHASES).describe('The last one that began.'),
  phases: list(phase),
  from: member.nullable(),
  to: member.nullable().describe('The requested member. Null: the cluster chooses.'),
  transaction_timeout_ms: milliseconds,
  fleet: z.boolean().describe('The cluster schedules it, so that each Pointsman takes part.'),
  sessions: sessionCounts,
  held_ms: milliseconds.nullable().describe('How long new clients waited because of the operation.'),
  switch_ms: milliseconds.nullable().describe('From the request to the proof of the next primary.'),
  without_primary_ms: milliseconds
    .nullable()
    .describe('From the first answer with which the old primary stepped down to the proof of the next one.'),
  primary: member.nullable().describe('The member that takes new clients of the primary now.'),
  cluster: clusterReport.nullable().describe('As the members report it after the end. Null: not known.'),
});

/** A refusal because of an operation that runs, or that has ended. */
export const operationConflict = failure.pick({ error: true }).extend({ operation: operationDocument });

export const operationList = z.strictObject({ operations: list(operationDocument).describe('The newest first.') });

export type Phase = (typeof PHASES)[number];
export type PhaseDocument = z.infer<typeof phase>;
export type SwitchoverSessions = z.infer<typeof sessionCounts>;
export type OperationDocument = z.infer<typeof operationDocument>;
export type CandidateDocument = z.infer<typeof candidate>;
export type PlanOfPrimary = z.infer<typeof planDocument>;
/** Without the sessions on the primary. */
export type PlanDocument = Omit<
  PlanOfPrimary,
  'sessions_on_primary' | 'unreadable_sessions_on_primary' | 'moves' | 'stays_text'
>;
export type OperationListDocument = z.infer<typeof operationList>;
