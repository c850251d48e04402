import { expect, test } from 'vitest';
import type { KillResult } from '../../../src/reports/session-list.ts';
import type { MoveResult } from '../../../src/reports/session-move.ts';
import {
  IDS_PER_WORKER,
  killSession,
  listSessions,
  moveSession,
  preflight,
} from '../../../src/workers/worker-sessions.ts';
import { Calls } from '../../../src/workers/calls.ts';
import type { CallsOfMain } from '../../../src/workers/messages.ts';
import type { NumberedWorker } from '../../../src/workers/worker-sessions.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

type Replies = { readonly [What in keyof CallsOfMain]?: CallsOfMain[What]['reply'] };

/** It answers the calls of which it has the reply. */
function aWorker(number: number, replies: Replies, sessions = 0): NumberedWorker {
  const calls = new Calls<CallsOfMain>(({ id, what }) => {
    if (what in replies) queueMicrotask(() => calls.take({ kind: 'reply', id, reply: replies[what] }));
  });
  return {
    number,
    worker: {
      // The second worker of a slot has another id.
      id: number + 10,
      call: (what, argument, atEnd) => calls.call(what, argument, atEnd),
      sessionsOn: () => sessions,
    },
  };
}

test('a worker that does not answer in time, and one that ended meanwhile, are named', async () => {
  const clock = new ManualClock();
  const list = { sessions: [aSessionEntry()], total: 1, silentWorkers: [] };
  const workers = [aWorker(1, { list_sessions: list }), aWorker(2, {}), aWorker(3, { list_sessions: undefined })];
  const listed = listSessions(workers, { limit: 10 }, clock);
  await clock.advance(500);
  expect(await listed).toMatchObject({ total: 1, silentWorkers: [2, 3] });
  expect(clock.pending()).toBe(0);
});

test('the worker that has the session ends it; an id of no worker is unknown; a silent worker is named', async () => {
  const clock = new ManualClock();
  const killed: KillResult = { kind: 'killed', session: aSessionEntry(), isClientTold: true, statement: 'none' };
  const workers = [aWorker(1, { kill_session: killed }), aWorker(2, {})];
  expect(await killSession(workers, 11 * IDS_PER_WORKER + 1, clock)).toBe(killed);
  expect(await killSession(workers, 13 * IDS_PER_WORKER + 1, clock)).toEqual({ kind: 'unknown' });
  expect(await killSession(workers, 5, clock)).toEqual({ kind: 'unknown' });
  const silent = killSession(workers, 12 * IDS_PER_WORKER + 7, clock);
  await clock.advance(500);
  expect(await silent).toEqual({ kind: 'silent_worker', worker: 2 });
});

test('a move is made by the worker that has the session, and takes as long as `moves` allows', async () => {
  const clock = new ManualClock();
  const moved: MoveResult = { kind: 'moved', from: 'pg-1', to: 'pg-2', durationMs: 12 };
  const workers = [aWorker(1, { move_session: moved }), aWorker(2, {})];
  const moves = { waitMs: 10_000, parkTimeoutMs: 30_000 };
  expect(await moveSession(workers, { session: 11 * IDS_PER_WORKER + 1, mayAbort: false }, clock, moves)).toBe(moved);
  expect(await moveSession(workers, { session: 5, mayAbort: false }, clock, moves)).toEqual({ kind: 'unknown' });
  expect(await moveSession(workers, { session: 11 * IDS_PER_WORKER + 1, mayAbort: false }, clock, undefined)).toEqual({
    kind: 'not_configured',
  });
  const silent = moveSession(workers, { session: 12 * IDS_PER_WORKER + 7, mayAbort: false }, clock, moves);
  await clock.advance(45_500);
  expect(await silent).toEqual({ kind: 'silent_worker', worker: 2 });
});

test('a preflight is the sum; the sessions of a silent worker, and of one that ended, are unknown', async () => {
  const clock = new ManualClock();
  const counted = { movable: 5, stays: { listening: 2 }, unknown: 1 };
  const workers = [
    aWorker(1, { preflight: counted }, 8),
    aWorker(2, { preflight: { movable: 1, stays: { listening: 1, busy: 1 }, unknown: 0 } }),
    aWorker(3, {}, 4),
    aWorker(4, { preflight: undefined }, 3),
  ];
  const asked = preflight(workers, 'pg-1', clock);
  await clock.advance(3_500);
  expect(await asked).toEqual({ movable: 6, stays: { listening: 3, busy: 1 }, unknown: 8 });
  expect(clock.pending()).toBe(0);
});
