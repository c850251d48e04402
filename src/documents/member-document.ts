// The part of the answer of GET /status about one member.
import { z } from 'zod';
import { TLS_FAULTS } from '../model/tls-fault.ts';
import { byName, count, seconds, time } from './document-parts.ts';

const place = z
  .strictObject({
    sign: z.enum(['routed', 'eligible', 'idle', 'warning', 'bad']),
    word: z.string().describe('is a replica'),
  })
  .describe('The place of the member in this pool, for people. idle: out of it, and no fault.');

export const standing = z.strictObject({
  place,
  standing: z.enum(['open', 'keep', 'leave']),
  cause: z
    .string()
    .exactOptional()
    .describe(
      'For leave: a key of on_leave, not_primary (it never was primary), or the check that fails: not_synchronous.',
    ),
  why: z.string().describe('The sentence that clients read, too.'),
  answered: z
    .strictObject({ status: count, check: z.string() })
    .exactOptional()
    .describe('The newest answer that was judged, and the check that was asked. Absent: there is none.'),
  weight: z.number().describe('Relative share of new sessions, from its tag. 1 without one.'),
  zone: z.string().nullable().describe('From its tag. Null: none, or the pool has no zone_tag.'),
  far: z.boolean().describe('It is in another zone than this Pointsman.'),
});

const memberTls = z.strictObject({
  certificate_expires_at: time
    .nullable()
    .describe('The end of the certificate that was verified last. Null: none was.'),
  failing: z
    .strictObject({
      reason: z.enum(TLS_FAULTS),
      why: z.string().describe('The sentence that clients read, too.'),
      count,
      for_seconds: seconds.describe('Since the first.'),
      last_seconds: seconds.describe('Since the newest.'),
    })
    .exactOptional()
    .describe('The failures since the last success. Absent: the newest handshake succeeded.'),
});

export const memberStatus = z.strictObject({
  name: z.string(),
  api: z.string(),
  postgres: z.string().nullable(),
  origin: z.enum(['configured', 'discovered']),
  role: z.string().nullable().describe('From its newest answer.'),
  role_text: z
    .string()
    .nullable()
    .describe('For people: was primary, of a member that does not answer and is eligible nowhere.'),
  state: z.string().nullable(),
  timeline: z.number().nullable(),
  lag_bytes: z
    .number()
    .nullable()
    .describe("Our own estimate: the primary's position minus the replayed one. Null for the primary, or unknown."),
  staleness_seconds: seconds
    .nullable()
    .describe('Age of the oldest position of the primary that it has not replayed. Null for the primary, or unknown.'),
  paused: z.boolean(),
  cluster_unlocked: z.boolean(),
  failsafe: z.boolean(),
  pending_restart: z.boolean(),
  last_answer_age_seconds: seconds.nullable(),
  failing: z
    .strictObject({ for_seconds: seconds, outcome: z.string() })
    .exactOptional()
    .describe('Present if its newest probe failed.'),
  drained: z.strictObject({ for_seconds: seconds }).exactOptional().describe('Present while drained by the operator.'),
  tls: memberTls
    .exactOptional()
    .describe('TLS to the member. Absent: no connection was to be encrypted, or backend.tls is off.'),
  pools: byName(standing),
});

export type MemberStatusDocument = z.infer<typeof memberStatus>;
export type PlaceDocument = z.infer<typeof place>;
export type StandingDocument = z.infer<typeof standing>;
