// The sessions of all workers for an operator: lists them, and ends one. A silent worker is named, so that an answer
// without its sessions does not look complete.
import type { Clock } from '../model/instant.ts';
import { mergedLists } from '../reports/session-list.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import { withTimeout } from './with-timeout.ts';

/** The part of a worker that this file needs. */
export interface SessionsWorker {
  readonly id: number;
  readonly listSessions: (query: SessionQuery) => Promise<SessionList | undefined>;
  readonly killSession: (session: number) => Promise<KillResult>;
}

export interface NumberedWorker {
  /** Its slot: 1, 2, 3 … */
  readonly number: number;
  readonly worker: SessionsWorker;
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
      const list = await withTimeout(clock, ANSWER_MS, worker.listSessions(query));
      return list ?? { sessions: [], total: 0, silentWorkers: [number] };
    }),
  );
  return mergedLists(lists, query.limit);
}

export async function killSession(
  workers: readonly NumberedWorker[],
  session: number,
  clock: Clock,
): Promise<KillResult> {
  const owner = workers.find(({ worker }) => worker.id === Math.floor(session / IDS_PER_WORKER));
  if (owner === undefined) return { kind: 'unknown' };
  const result = await withTimeout(clock, ANSWER_MS, owner.worker.killSession(session));
  return result ?? { kind: 'silent_worker', worker: owner.number };
}
