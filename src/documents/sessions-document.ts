// The answers of GET /sessions and of POST /sessions/ID/kill and /move. Ages are seconds. Null: unknown, or there is
// none.
import { READ_SCOPES } from '../model/causal-reads.ts';
import { z } from 'zod';
import { NOT_YET } from '../core/read-index.ts';
import { SESSION_STATES } from '../reports/session-state.ts';
import { count, list, seconds } from './document-parts.ts';

const moves = z.strictObject({
  moved: count.describe('How often it has moved.'),
  last: z
    .strictObject({
      from: z.string(),
      to: z.string(),
      cause: z.string().describe('A key of on_leave, switchover, restart, or rebalance.'),
      gap_ms: count.describe('Without a server.'),
      aborted: z.boolean().describe('Its transaction was rolled back for that (moves.on_stays: abort).'),
      age_seconds: seconds,
    })
    .nullable()
    .describe('Its last move. Null: none.'),
  answer: z
    .strictObject({
      movable: z.boolean(),
      reason: z.string().nullable().describe('Why it cannot move.'),
      detail: z.string().nullable(),
      age_seconds: seconds.nullable().describe('Null: known without a question to its server.'),
    })
    .nullable()
    .describe('Whether it can move. Null: not asked yet.'),
  underway: z
    .strictObject({
      from: z.string(),
      cause: z.string(),
      age_seconds: seconds.describe('Since it left, whatever was tried meanwhile.'),
      waiting: z.boolean().describe('Its client has sent something meanwhile.'),
      waits_for: z
        .string()
        .nullable()
        .describe('It waits for this, such as a route or its turn. Null: it is logged in at its next server.'),
      why: z.string().nullable().describe('Why the last attempt did not succeed.'),
    })
    .nullable()
    .describe('While it is parked or moving.'),
});

const read = z.strictObject({
  age_seconds: seconds.describe('Since its first byte came.'),
  scope: z.enum(READ_SCOPES).describe('Whose acknowledged writes it must see: `causal_reads.scope` of its pool.'),
  member: z.string().describe('Its server.'),
  reason: z.enum(NOT_YET),
  why: z.string().describe('The same in a sentence.'),
  primary: z.string().nullable().describe('Null: none is proven.'),
  must_show: z
    .strictObject({ lsn: z.string(), timeline: count })
    .nullable()
    .describe('The position on this timeline that its server must replay. Null: the primary has not said it yet.'),
  behind_bytes: count.nullable().describe('The part of it that is not replayed. Null: unknown.'),
  late: z.boolean().describe('It has waited for `causal_reads.wait`: it ends when its client can be told, or moves.'),
});

export const session = z.strictObject({
  id: count.describe('As in the log.'),
  pool: z.string(),
  member: z.string().nullable(),
  branch: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe('The branch that is the target of the session, which then has no member.'),
  client: z.string().describe('host:port; [local] on a Unix socket'),
  via: z.string().nullable().describe('The load balancer that named the client (PROXY protocol).'),
  listener: z.string().describe('The address at which the client was accepted.'),
  user: z.string().nullable(),
  database: z.string().nullable(),
  application: z.string().nullable(),
  state: z.enum(SESSION_STATES),
  activity: z
    .enum(['starting', 'busy', 'idle', 'in_transaction', 'in_failed_transaction'])
    .nullable()
    .describe('The activity of a relayed session that can be read. busy: a request has no complete answer.'),
  tls: z
    .enum(['none', 'terminate', 'passthrough'])
    .nullable()
    .describe('passthrough: the encryption is between client and server.'),
  opaque: z.boolean().describe('The stream is encrypted end to end: names and activity are unknown.'),
  age_seconds: seconds.describe('Since its accept.'),
  state_seconds: seconds.describe('In this state.'),
  held_seconds: seconds.nullable().describe('From its first wait for a route to the start of its relay.'),
  to_backend_bytes: count,
  to_client_bytes: count,
  read: read.exactOptional().describe('Its transaction waits for its server (`causal_reads`). Absent: none waits.'),
  moves: moves
    .exactOptional()
    .describe('Absent: it never moves (no section `moves`, or a stream that cannot be read).'),
});

export const sessionList = z.strictObject({
  total: count.describe('All that match.'),
  left_out: count.describe('The ones that match and are not listed, because of the limit.'),
  silent_workers: list(count).describe('Workers that did not answer in time: their sessions are missing.'),
  sessions: list(session).describe('The oldest first.'),
});

export const killedSession = z.strictObject({
  killed: session.describe('As it was before.'),
  client_told: z.boolean().describe('An error with the reason is on its way to the client. Else it was reset.'),
  statement: z
    .enum(['none', 'cancel_sent', 'not_cancelled'])
    .describe('not_cancelled: the server ends a running statement when it notices that the client is gone.'),
  note: z.string().describe('The same in words.'),
});

export const movedSession = z.strictObject({
  session: count,
  result: z
    .enum(['moved', 'stayed', 'failed'])
    .describe('stayed: it is where it was, and its client noticed nothing. failed: it has ended.'),
  from: z.string().nullable().describe('The member before.'),
  to: z.string().nullable().describe('The member now, if it moved. It may be the same one.'),
  reason: z.string().nullable().describe('Why it stayed or ended.'),
  detail: z.string().nullable(),
  duration_ms: count.describe('From the request to the end of the move.'),
});

export type SessionDocument = z.infer<typeof session>;
export type SessionsDocument = z.infer<typeof sessionList>;
export type KilledSessionDocument = z.infer<typeof killedSession>;
export type MovedSessionDocument = z.infer<typeof movedSession>;
