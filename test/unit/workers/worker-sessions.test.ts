import { expect, test } from 'vitest';
import type { KillResult, SessionList } from '../../../src/reports/session-list.ts';
import { IDS_PER_WORKER, killSession, listSessions } from '../../../src/workers/worker-sessions.ts';
import type { NumberedWorker } from '../../../src/workers/worker-sessions.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const never = new Promise<never>(() => {});

function aWorker(
  number: number,
  answers: { readonly list?: Promise<SessionList | undefined>; readonly kill?: Promise<KillResult> },
): NumberedWorker {
  const { list = never, kill = never } = answers;
  // The second worker of a slot has another id.
  return { number, worker: { id: number + 10, listSessions: () => list, killSession: () => kill } };
}

test('a worker that does not answer in time, and one that ended meanwhile, are named', async () => {
  const clock = new ManualClock();
  const list = { sessions: [aSessionEntry()], total: 1, silentWorkers: [] };
  const workers = [
    aWorker(1, { list: Promise.resolve(list) }),
    aWorker(2, {}),
    aWorker(3, { list: Promise.resolve(undefined) }),
  ];
  const listed = listSessions(workers, { limit: 10 }, clock);
  await clock.advance(500);
  expect(await listed).toMatchObject({ total: 1, silentWorkers: [2, 3] });
  expect(clock.pending()).toBe(0);
});

test('the worker that has the session ends it; an id of no worker is unknown; a silent worker is named', async () => {
  const clock = new ManualClock();
  const killed: KillResult = { kind: 'killed', session: aSessionEntry(), isClientTold: true, statement: 'none' };
  const workers = [aWorker(1, { kill: Promise.resolve(killed) }), aWorker(2, {})];
  expect(await killSession(workers, 11 * IDS_PER_WORKER + 1, clock)).toBe(killed);
  expect(await killSession(workers, 13 * IDS_PER_WORKER + 1, clock)).toEqual({ kind: 'unknown' });
  expect(await killSession(workers, 5, clock)).toEqual({ kind: 'unknown' });
  const silent = killSession(workers, 12 * IDS_PER_WORKER + 7, clock);
  await clock.advance(500);
  expect(await silent).toEqual({ kind: 'silent_worker', worker: 2 });
});
