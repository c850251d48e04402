// The part of GET /sessions that the commands read.
import { z } from 'zod';
import { addressText } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { reportFailure, requestWithToken } from '../send-operation.ts';
import type { Running } from '../running.ts';

const moves = z.looseObject({
  moved: z.number(),
  last: z
    .looseObject({ from: z.string(), to: z.string(), cause: z.string(), gap_ms: z.number(), age_seconds: z.number() })
    .nullable(),
  answer: z
    .looseObject({
      movable: z.boolean(),
      reason: z.string().nullable(),
      detail: z.string().nullable(),
      age_seconds: z.number().nullable(),
    })
    .nullable(),
  underway: z
    .looseObject({
      from: z.string(),
      cause: z.string(),
      /** Absent, as the next one: of an older Pointsman. */
      age_seconds: z.number().optional(),
      waits_for: z.string().nullish(),
      waiting: z.boolean(),
      why: z.string().nullable(),
    })
    .nullable(),
});

export const session = z.looseObject({
  id: z.number(),
  pool: z.string(),
  member: z.string().nullable(),
  /** Absent: of an older Pointsman. */
  branch: z.looseObject({ id: z.string(), name: z.string() }).nullish(),
  client: z.string(),
  listener: z.string(),
  user: z.string().nullable(),
  database: z.string().nullable(),
  application: z.string().nullable(),
  state: z.string(),
  activity: z.string().nullable(),
  tls: z.string().nullable(),
  opaque: z.boolean(),
  age_seconds: z.number(),
  state_seconds: z.number(),
  held_seconds: z.number().nullable(),
  to_backend_bytes: z.number(),
  to_client_bytes: z.number(),
  /** Absent: it never moves. */
  moves: moves.optional(),
});

const document = z.looseObject({
  total: z.number(),
  left_out: z.number(),
  silent_workers: z.array(z.number()),
  sessions: z.array(session),
});

export type SessionRow = z.infer<typeof session>;
export type SessionRows = z.infer<typeof document>;

/** A number is the exit code; the reason is then on stderr. */
export async function readSessions(
  running: Running,
  query: Readonly<Record<string, string | undefined>>,
  io: CliIo,
): Promise<SessionRows | number> {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) given.set(key, value);
  const path = `/sessions?${given.toString()}`;
  const answer = await requestWithToken(running, { method: 'GET', path }, io);
  if (typeof answer === 'number') return answer;
  // Unknown is the pool or the member of the query; a session that is gone is an empty list.
  if (answer.status !== 200) {
    const code = reportFailure(answer, io);
    return answer.status === 404 || answer.status === 400 ? EXIT.usage : code;
  }
  const { data } = document.safeParse(answer.body);
  if (data !== undefined) return data;
  io.stderr(`pointsman: ${addressText(running.address)} is not a Pointsman admin endpoint, or of another version\n`);
  return EXIT.failure;
}
