// The part of GET /status that the commands read. Fields that an older Pointsman does not have are optional.
import { z } from 'zod';
import { unknownName } from '../../config/closest.ts';
import { addressText } from '../../model/member.ts';
import { LEAVE_MODES } from '../../model/policy.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { request } from '../admin-request.ts';
import { findRunning } from '../running.ts';
import type { Running, RunningOptions } from '../running.ts';

const place = z.object({ sign: z.enum(['routed', 'eligible', 'idle', 'warning', 'bad']), word: z.string() });

const notice = z.looseObject({
  level: z.enum(['danger', 'warning']),
  about: z.string(),
  text: z.string(),
  pool: z.string().optional(),
  command: z.string().optional(),
});

const standing = z.looseObject({
  /** An older Pointsman has none. */
  place: place.default({ sign: 'idle', word: '?' }),
  standing: z.enum(['open', 'keep', 'leave']),
  cause: z.string().optional(),
  why: z.string(),
});

const member = z.looseObject({
  name: z.string(),
  role: z.string().nullable(),
  role_text: z.string().nullish(),
  state: z.string().nullable(),
  timeline: z.number().nullable(),
  lag_bytes: z.number().nullish(),
  last_answer_age_seconds: z.number().nullable(),
  failing: z.looseObject({ for_seconds: z.number(), outcome: z.string() }).optional(),
  drained: z.looseObject({ for_seconds: z.number() }).optional(),
  pools: z.record(z.string(), standing),
});

const route = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('open'),
    members: z.array(z.looseObject({ name: z.string() })),
    fallback: z.looseObject({ pool: z.string() }).nullable(),
    lagging: z.looseObject({}).optional(),
  }),
  z.looseObject({ kind: z.literal('hold'), cause: z.string() }),
  z.looseObject({ kind: z.literal('closed') }),
]);

const sessions = z.looseObject({
  by_state: z.record(z.string(), z.number()),
  by_member: z.record(z.string(), z.number()),
  longest_wait_seconds: z.number().optional(),
  accepted: z.number(),
  closed: z.number(),
  to_backend_bytes: z.number(),
  to_client_bytes: z.number(),
});

const pool = z.looseObject({
  name: z.string(),
  check: z.string(),
  exclusive: z.boolean().optional(),
  route,
  why: z.string(),
  on_drain: z.enum(LEAVE_MODES).optional(),
  sessions: sessions.nullable(),
});

const branches = z.looseObject({
  source: z.string(),
  branches: z.number(),
  age_seconds: z.number().nullable(),
  failing: z.looseObject({ why: z.string(), for_seconds: z.number() }).nullable(),
  sessions: sessions.nullable(),
});

export const statusDocument = z.looseObject({
  uptime_seconds: z.number(),
  notices: z.array(notice).default([]),
  cluster: z.looseObject({
    scope: z.string().nullable(),
    timeline: z.number().nullable(),
    drained: z.array(z.string()),
  }),
  members: z.array(member),
  refused_members: z.array(z.looseObject({ name: z.string(), why: z.string() })).default([]),
  pools: z.array(pool),
  branches: branches.optional(),
  limits: z
    .looseObject({
      client_wait_seconds: z.number(),
      outage_seconds: z.number().optional(),
      park_seconds: z.number().nullish(),
    })
    .optional(),
});

export type Status = z.infer<typeof statusDocument>;
export type StatusPool = Status['pools'][number];
export type StatusMember = Status['members'][number];

export interface StatusOptions extends RunningOptions {
  readonly pool?: string | undefined;
}

export interface FoundStatus {
  readonly status: Status;
  readonly running: Running;
}

/** Limited to one pool if `pool` is given. A number is the exit code; the reason is then on stderr. */
export async function readStatus(options: StatusOptions, io: CliIo): Promise<FoundStatus | number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const data = await statusFrom(running, io);
  if (typeof data === 'number') return data;
  const status = ofPool(data, options.pool);
  if (status.pools.length > 0 || options.pool === undefined) return { status, running };
  const known = data.pools.map(({ name }) => name);
  io.stderr(`pointsman: ${unknownName('pool', options.pool, known)}\n`);
  return EXIT.usage;
}

/** A number is the exit code; the reason is then on stderr. */
export async function statusFrom(running: Running, io: CliIo): Promise<Status | number> {
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  if (answer === undefined) return EXIT.failure;
  const { success, data } = statusDocument.safeParse(answer.body);
  if (answer.status === 200 && success) return data;
  io.stderr(`pointsman: ${addressText(running.address)} is not a Pointsman admin endpoint, or of another version\n`);
  return EXIT.failure;
}

/** The document limited to one pool; all of it if `name` is undefined. */
export function ofPool(status: Status, name: string | undefined): Status {
  if (name === undefined) return status;
  const members = status.members.map((one) => {
    const own = one.pools[name];
    return { ...one, pools: own === undefined ? {} : { [name]: own } };
  });
  const { branches: _, ...rest } = status;
  const notices = status.notices.filter(({ pool = name }) => pool === name);
  return { ...rest, notices, members, pools: status.pools.filter((one) => one.name === name) };
}
