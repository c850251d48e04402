// A restart that moves sessions: the member's sessions leave before the request, and come back after the answer.
import { beforeEach, expect, test } from 'vitest';
import type { ClusterControl, ClusterOperation } from '../../../src/cluster/control.ts';
import { withParking } from '../../../src/cluster/restart-in-place.ts';
import type { RestartInPlaceOptions } from '../../../src/cluster/restart-in-place.ts';
import type { OperationResult } from '../../../src/documents/cluster-documents.ts';
import type { Handover } from '../../../src/core/snapshot.ts';
import { fakeControl } from '../../support/fakes/fake-control.ts';
import type { FakeControl } from '../../support/fakes/fake-control.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const RESTART: ClusterOperation = { kind: 'restart', member: 'pg-1' };
const MOVES = { waitMs: 5_000, parkTimeoutMs: 30_000 };

let clock: ManualClock;
let control: FakeControl;
let handovers: (Handover | undefined)[];
let sessions: number;
let moves: typeof MOVES | undefined;
let pools: readonly string[];

beforeEach(() => {
  clock = new ManualClock();
  control = fakeControl();
  handovers = [];
  sessions = 2;
  moves = MOVES;
  pools = [];
});

function parking(): ClusterControl {
  const site: RestartInPlaceOptions = {
    clock,
    moves: () => moves,
    handOver: (handover) => void handovers.push(handover),
    sessions: () => Promise.resolve(sessions),
    pools: () => pools,
  };
  return withParking(control, site);
}

test('the sessions leave the member before the request, and the handover ends with the answer', async () => {
  const answer = Promise.withResolvers<undefined>();
  control.result = () => answer.promise.then(() => ({ kind: 'done', text: 'done', reason: 'ok' }));
  const since = clock.now();
  const done = parking().perform(RESTART);
  await clock.advance(1_000);
  expect(control.performed).toEqual([]);
  expect(handovers).toEqual([
    { operation: 'restart', member: 'pg-1', phase: 'drain', since, mostMs: 35_000, transactionMs: 5_000 },
  ]);
  sessions = 0;
  await clock.advance(25);
  expect([control.performed, handovers.length]).toEqual([[RESTART], 1]);
  answer.resolve(undefined);
  expect(await done).toMatchObject({ kind: 'done' });
  expect(handovers.at(-1)).toBeUndefined();
});

test('sessions that stay do not prevent it: their time ends', async () => {
  const done = parking().perform(RESTART);
  await clock.advance(5_000);
  expect(control.performed).toEqual([]);
  await clock.advance(1_000);
  await done;
  expect(control.performed).toEqual([RESTART]);
});

test('the handover ends whatever the answer is', async () => {
  sessions = 0;
  control.result = () => Promise.reject(new Error('no answer'));
  await expect(parking().perform(RESTART)).rejects.toThrow('no answer');
  expect(handovers).toEqual([expect.anything(), undefined]);
});

/** It leaves its pools while it restarts. */
function restarts(): OperationResult {
  pools = [];
  return { kind: 'done', text: 'done', reason: 'ok' };
}

/** Restarts the member, which is in the pool `read` before. Returns the time that the end took after the answer. */
async function tookAfterTheAnswer(...later: readonly (readonly [number, readonly string[]])[]): Promise<number> {
  sessions = 0;
  pools = ['read'];
  control.result = restarts;
  const answeredAt = clock.now();
  let endedAt: number | undefined;
  void parking()
    .perform(RESTART)
    .then(() => (endedAt = clock.now()));
  for (const [atMs, now] of later) {
    await clock.advance(answeredAt + atMs - clock.now());
    pools = now;
  }
  await clock.advance(60_000);
  return (endedAt ?? Infinity) - answeredAt;
}

test('it ends when the member takes sessions in its pools again', async () => {
  expect(await tookAfterTheAnswer([500, ['read']])).toBe(525);
  expect(handovers).toHaveLength(2);
});

test('it ends when the member takes sessions in another pool, because its role has changed', async () => {
  expect(await tookAfterTheAnswer([800, ['write']])).toBe(825);
});

test('it ends after ten seconds for a member that does not come back', async () => {
  expect(await tookAfterTheAnswer()).toBe(10_000);
});

test('no member is waited for that was in no pool before, or whose restart was refused', async () => {
  sessions = 0;
  await parking().perform(RESTART);
  pools = ['read'];
  control.result = () => {
    pools = [];
    return { kind: 'precondition', status: 503, text: 'no', reason: 'no' };
  };
  expect(await parking().perform(RESTART)).toMatchObject({ kind: 'precondition' });
});

test('a restart that a rule refuses takes no session', async () => {
  control.isReadable = false;
  await parking().perform(RESTART);
  expect([control.performed, handovers]).toEqual([[RESTART], []]);
});

test('without moves, at a later time, and for every other operation nothing is taken', async () => {
  const others: readonly ClusterOperation[] = [
    { ...RESTART, schedule: '2026-12-01T02:00:00+00:00' },
    { kind: 'switchover', leader: 'pg-1' },
    { kind: 'pause' },
  ];
  for (const operation of others) await parking().perform(operation);
  moves = undefined;
  await parking().perform(RESTART);
  expect([control.performed.length, handovers]).toEqual([4, []]);
  expect(parking().source).toBe(control.source);
});
