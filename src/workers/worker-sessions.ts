// The sessions of all workers for an operator: lists them, ends one, and counts the ones that can move. A silent worker
// is named or its sessions count as unknown, so that an answer without them does not look complete.
import type { Clock } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { PREFLIGHT_MS, sumOfPreflights, type Preflight } from '../reports/preflight.ts';
import { mergedLists, type KillResult, type SessionList, type SessionQuery } from '../reports/session-list.ts';
import type { MovesPolicy } from '../model/moves.ts';
import { longestMove, type MoveRequest, type MoveResult } from '../reports/session-move.ts';
import type { CallsOfMain } from './messages.ts';
import { withTimeout } from '../model/with-timeout.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface NumberedWorker {
  /** Its slot: 1, 2, 3 … */
  readonly number: number;
  readonly worker: Pick<WorkerProcess, 'id' | 'call' | 'sessionsOn'>;
}

/** The session ids of worker N are above N times this. */
export const IDS_PER_WORKER = 1e11;
/** A worker has this long to answer. Milliseconds. */
const ANSWER_MS = 500;

export async function listSessions(
  workers: readonly NumberedWorker[],
  query: SessionQuery,
  clock: Clock,
): Promise<SessionList> {
  const lists = await Promise.all(
    workers.map(async ({ number, worker }) => {
      const list = await withTimeout(clock, ANSWER_MS, worker.call('list_sessions', query, undefined));
      return list ?? { sessions: [], total: 0, silentWorkers: [number] };
    }),
  );
  return mergedLists(lists, query);
}

export function killSession(workers: readonly NumberedWorker[], session: number, clock: Clock): Promise<KillResult> {
  return callOwner(workers, session, session, clock, ANSWER_MS, 'kill_session');
}

export async function moveSession(
  workers: readonly NumberedWorker[],
  request: MoveRequest,
  clock: Clock,
  moves: Pick<MovesPolicy, 'waitMs' | 'parkTimeoutMs'> | undefined,
): Promise<MoveResult> {
  if (moves === undefined) return { kind: 'not_configured' };
  return await callOwner(workers, request.session, request, clock, longestMove(moves) + ANSWER_MS, 'move_session');
}

async function callOwner<What extends 'kill_session' | 'move_session'>(
  workers: readonly NumberedWorker[],
  session: number,
  payload: CallsOfMain[What]['argument'],
  clock: Clock,
  limitMs: number,
  what: What,
): Promise<CallsOfMain[What]['reply'] | Extract<KillResult & MoveResult, { kind: 'unknown' | 'silent_worker' }>> {
  const owner = workers.find(({ worker }) => worker.id === Math.floor(session / IDS_PER_WORKER));
  if (owner === undefined) return { kind: 'unknown' };
  const result = await withTimeout(clock, limitMs, owner.worker.call(what, payload, { kind: 'unknown' }));
  return result ?? { kind: 'silent_worker', worker: owner.number };
}

export async function preflight(
  workers: readonly NumberedWorker[],
  member: MemberName,
  clock: Clock,
): Promise<Preflight> {
  const all = workers.map(async ({ worker }): Promise<Preflight> => {
    const counted = await withTimeout(clock, PREFLIGHT_MS + ANSWER_MS, worker.call('preflight', member, undefined));
    return counted ?? { movable: 0, stays: {}, unknown: worker.sessionsOn(member) };
  });
  return sumOfPreflights(await Promise.all(all));
}
