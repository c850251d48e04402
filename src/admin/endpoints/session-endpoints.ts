// The live sessions one by one, the end of one, and its move. They name users and client addresses, so the list needs
// the token too.
import { z } from 'zod';
import { unknownName } from '../../config/closest.ts';
import type { Instant } from '../../model/instant.ts';
import { formatLsn } from '../../model/lsn.ts';
import type { MemberName } from '../../model/member.ts';
import { memoized } from '../../model/once.ts';
import type { PoolName } from '../../model/policy.ts';
import { SESSION_SORTS } from '../../reports/session-list.ts';
import type {
  KillResult,
  SessionEntry,
  SessionList,
  SessionMoves,
  SessionQuery,
  StatementEnd,
  ShownReadWait,
} from '../../reports/session-list.ts';
import type { MoveResult } from '../../reports/session-move.ts';
import { SESSION_STATES } from '../../reports/session-state.ts';
import { failure, json, type Answer } from '../answer.ts';
import { get, post, type Endpoint } from '../endpoint.ts';
import type {
  KilledSessionDocument,
  MovedSessionDocument,
  SessionDocument,
  SessionsDocument,
} from '../../documents/sessions-document.ts';
import { seconds } from '../status-units.ts';

export interface SessionEndpointOptions {
  readonly sessions: {
    /** Never rejects. */
    readonly list: (query: SessionQuery) => Promise<SessionList>;
    /** Never rejects. */
    readonly kill: (session: number) => Promise<KillResult>;
    /** Never rejects. */
    readonly move: (session: number, mayAbort: boolean) => Promise<MoveResult>;
    readonly pools: () => readonly PoolName[];
    readonly members: () => readonly MemberName[];
    readonly now: () => Instant;
  };
}

const LIMIT = 100;
/** More than the limits of `moves` add up to, unless somebody raised them. */
const MOVE_MS = 60_000;
/** An answer of so many sessions takes this process a few milliseconds. */
export const MOST_SESSIONS = 1000;
const [FIRST_STATE, ...MORE_STATES] = SESSION_STATES.filter((state) => state !== 'closed');

const querySchema = memoized(() =>
  z.strictObject({
    id: z.coerce.number().int().min(0).optional().describe('Only this session.'),
    pool: z.string().optional().describe('Only sessions of this pool.'),
    member: z
      .string()
      .optional()
      .describe('Only sessions on this member, on their way to it, or parked since they left it.'),
    client: z.string().optional().describe('Only this client: an address, or an address with its port.'),
    state: z
      .enum([FIRST_STATE ?? 'startup', ...MORE_STATES])
      .optional()
      .describe('Only sessions in this state.'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(MOST_SESSIONS)
      .default(LIMIT)
      .describe('At most so many sessions, the first by `sort`.'),
    sort: z
      .enum(SESSION_SORTS)
      .optional()
      .describe('The largest first: age (default), since (time in the state), held, in, out, or bytes (in and out).'),
  }),
);

const moveSchema = memoized(() =>
  z.strictObject({
    abort: z
      .boolean()
      .optional()
      .describe('Roll a transaction back that is still open after `moves.wait`; its client reads SQLSTATE 40001.'),
  }),
);

export function sessions({ sessions: parts }: SessionEndpointOptions): readonly Endpoint[] {
  return [
    get({
      path: '/sessions',
      needsToken: true,
      query: querySchema,
      answer: async ({ query }) => {
        const list = await parts.list(query);
        const unknown = list.total === 0 ? whyUnknown(query, parts) : undefined;
        return unknown === undefined ? json(200, sessionsDocument(list, parts.now())) : failure(404, unknown);
      },
    }),
    post({
      path: '/sessions/ID/kill',
      answer: ({ parameters: { id } }) =>
        whyNoId(id) ?? parts.kill(Number(id)).then((result) => killed(id, result, parts.now())),
    }),
    post({
      path: '/sessions/ID/move',
      body: moveSchema,
      answerMs: MOVE_MS,
      answer({ parameters: { id }, body: { abort } }) {
        const asked = () => parts.move(Number(id), abort === true);
        return whyNoId(id) ?? asked().then((result) => moved(id, result));
      },
    }),
  ];
}

function whyNoId(text: string): Answer | undefined {
  if (/^\d{1,16}$/.test(text)) return undefined;
  return failure(400, `${text} is not a session: an id is a number, as GET /sessions has it`);
}

/** Sessions of a pool or a member that is gone may live on, so a name is unknown only if it has none. */
function whyUnknown(
  { pool, member }: SessionQuery,
  { pools, members }: SessionEndpointOptions['sessions'],
): string | undefined {
  if (pool !== undefined && !pools().includes(pool)) return unknownName('pool', pool, pools());
  if (member === undefined || members().includes(member)) return undefined;
  return unknownName('member', member, members());
}

export function sessionsDocument(
  { sessions: entries, total, silentWorkers }: SessionList,
  now: Instant,
): SessionsDocument {
  return {
    total,
    left_out: total - entries.length,
    silent_workers: silentWorkers,
    sessions: entries.map((entry) => sessionDocument(entry, now)),
  };
}

function sessionDocument(entry: SessionEntry, now: Instant): SessionDocument {
  return {
    id: entry.id,
    pool: entry.pool,
    member: entry.member ?? null,
    branch: entry.branch ?? null,
    client: entry.client,
    via: entry.via ?? null,
    listener: entry.listener,
    user: entry.user ?? null,
    database: entry.database ?? null,
    application: entry.application ?? null,
    state: entry.state,
    activity: entry.activity ?? null,
    tls: entry.tls ?? null,
    opaque: entry.tls === 'passthrough',
    age_seconds: seconds(now - entry.acceptedAt),
    state_seconds: seconds(now - entry.stateSince),
    held_seconds: entry.heldMs === undefined ? null : seconds(entry.heldMs),
    to_backend_bytes: entry.toBackendBytes,
    to_client_bytes: entry.toClientBytes,
    ...(entry.read === undefined ? {} : { read: readDocument(entry.read, now) }),
    ...(entry.moves === undefined ? {} : { moves: movesDocument(entry.moves, now) }),
  };
}

function readDocument(read: ShownReadWait, now: Instant): NonNullable<SessionDocument['read']> {
  const { since, scope, member, reason, why, primary, mustShow, behindBytes, isLate } = read;
  return {
    age_seconds: seconds(now - since),
    scope,
    member,
    reason,
    why,
    primary: primary ?? null,
    must_show: mustShow === undefined ? null : { lsn: formatLsn(mustShow.position), timeline: mustShow.timeline },
    behind_bytes: behindBytes ?? null,
    late: isLate,
  };
}

function movesDocument(
  { moved, last, found, underway }: SessionMoves,
  now: Instant,
): NonNullable<SessionDocument['moves']> {
  const pinned = found?.movability.kind === 'pinned' ? found.movability : undefined;
  return {
    moved,
    last:
      last === undefined
        ? null
        : {
            from: last.from,
            to: last.to,
            cause: last.cause,
            gap_ms: Math.round(last.gapMs),
            aborted: last.hasAborted === true,
            age_seconds: seconds(now - last.at),
          },
    answer:
      found === undefined
        ? null
        : {
            movable: pinned === undefined,
            reason: pinned?.reason ?? null,
            detail: pinned?.detail ?? null,
            age_seconds: found.at === undefined ? null : seconds(now - found.at),
          },
    underway: underway === undefined ? null : underwayDocument(underway, now),
  };
}

function underwayDocument(
  { from, cause, leftAt, isWaiting, waitsFor, why }: NonNullable<SessionMoves['underway']>,
  now: Instant,
): NonNullable<NonNullable<SessionDocument['moves']>['underway']> {
  const age = seconds(now - leftAt);
  return { from, cause, age_seconds: age, waiting: isWaiting, waits_for: waitsFor ?? null, why: why ?? null };
}

const STATEMENTS: Readonly<Record<StatementEnd, string>> = {
  none: 'no statement was running',
  cancel_sent: 'a statement was running: its server is asked to cancel it',
  not_cancelled:
    'the stream or its cancel key is unknown: a statement that still runs ends when its server notices that the ' +
    'client is gone (at its next write, or by client_connection_check_interval)',
};

function killed(id: string, result: KillResult, now: Instant): Answer {
  switch (result.kind) {
    case 'killed':
      return json(200, {
        killed: sessionDocument(result.session, now),
        client_told: result.isClientTold,
        statement: result.statement,
        note: STATEMENTS[result.statement],
      } satisfies KilledSessionDocument);
    case 'unknown':
      return failure(404, `no session ${id}: it has ended, or never existed`);
    case 'silent_worker':
      return failure(503, `worker ${result.worker} does not answer: session ${id} ends as soon as it does`);
  }
}

function moved(id: string, result: MoveResult): Answer {
  switch (result.kind) {
    case 'moved':
    case 'stayed':
    case 'failed':
      return json(200, {
        session: Number(id),
        result: result.kind,
        from: result.from ?? null,
        to: result.kind === 'moved' ? result.to : null,
        reason: result.kind === 'moved' ? null : result.reason,
        detail: result.kind === 'moved' ? null : (result.detail ?? null),
        duration_ms: Math.round(result.durationMs),
      } satisfies MovedSessionDocument);
    case 'unknown':
      return failure(404, `no session ${id}: it has ended, or never existed`);
    case 'not_configured':
      return failure(409, 'sessions do not move: the configuration has no section `moves`');
    case 'silent_worker':
      return failure(503, `worker ${result.worker} does not answer: session ${id} may still move`);
  }
}
