// A session whose server was late has moved to the primary. It goes back to its pool, not before 10 s, behind a read
// that is its first since then; and the way back is no late read.
import { expect, test } from 'vitest';
import { ReadCounts } from '../../../../src/proxy/reads/read-counts.ts';
import { ReadGate, type ReadGateOptions } from '../../../../src/proxy/reads/read-gate.ts';
import type { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import { NO_RESULTS } from '../../../../src/reports/causal-reads.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const primary = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const replica = { member: 'pg-2', address: { host: '10.0.0.2', port: 5432 } };

interface Circumstances {
  /** `on_leave.fallback_over: keep` */
  readonly keeps?: boolean;
  /** Its pool has members that take sessions. */
  readonly hasMembers?: boolean;
  /** Its state in the session can be carried. */
  readonly isMovable?: boolean;
}

/** At the primary since this moment. */
async function onDetour({ keeps = false, hasMembers = true, isMovable = true }: Circumstances = {}) {
  const clock = new ManualClock();
  const counts = new ReadCounts({ clock, late: { note: () => {} } });
  const moves: string[] = [];
  const endings: ((outcome: { kind: string }) => void)[] = [];
  let isFree = false;
  let canMove = true;
  const movable = {
    request: (cause: string, onEnd: (outcome: { kind: string }) => void): void => {
      moves.push(cause);
      endings.push(onEnd);
    },
  };
  const options = {
    session: {
      pool: 'read',
      assignment: () => ({ isFallback: true }),
      get movable() {
        return canMove ? movable : undefined;
      },
    },
    train: {
      isFree: () => isFree,
      add: () => {},
      remove: () => {},
      wait: () => ({ why: 'unasked', primary: undefined, unanswered: new Map() }),
      coversOf: () => () => true,
    },
    clock,
    newestQuestion: () => 0,
    policy: () => ({ waitMs: 500, late: 'primary' }),
    counts,
    holdMs: () => 0,
    detours: { goal: () => ({ next: () => undefined }), hasOwnMembers: () => hasMembers, hasPrimary: () => true },
    keepsDetour: () => keeps,
  };
  const follower = { mayGoOn: () => true, isAtBoundaryToClient: () => true };
  const conversation = { follower: () => follower, activity: () => 'idle' };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate calls no more of its session and train
  const gate = new ReadGate(options as unknown as ReadGateOptions);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.reads(conversation as unknown as Conversation);
  gate.startsAt(replica, () => undefined);
  gate.holds();
  await clock.advance(500);
  gate.leaves();
  gate.startsAt(primary, () => undefined);
  isFree = true;
  canMove = isMovable;
  const progress = (kind: string): void => endings.at(-1)?.({ kind });
  return { clock, counts, moves, gate, progress, stays: () => progress('stayed') };
}

test('the way back counts nowhere', async () => {
  const { clock, counts, moves, gate } = await onDetour();
  await clock.advance(10_000);
  gate.holds();
  gate.leaves();
  expect(moves).toEqual(['lagging', 'fallback_over']);
  expect(counts.counts()).toMatchObject({ results: { ...NO_RESULTS, moved: 1 }, waitedMs: 500, waiting: 0 });
});

test('before 10 s its reads run at the primary at once', async () => {
  const { clock, counts, moves, gate } = await onDetour();
  await clock.advance(9_999);
  gate.holds();
  expect(gate.takesPass()).toBe(true);
  expect(moves).toEqual(['lagging']);
  expect(counts.counts().results).toMatchObject({ free: 1 });
});

test('one that cannot go back runs its read at the primary, and tries again after 10 s', async () => {
  const { clock, counts, moves, gate, stays } = await onDetour();
  await clock.advance(10_000);
  gate.holds();
  expect(gate.takesPass()).toBe(false);
  stays();
  expect([gate.takesPass(), counts.counts().results.free]).toEqual([true, 1]);
  await clock.advance(9_999);
  gate.holds();
  expect(gate.takesPass()).toBe(true);
  expect(moves).toEqual(['lagging', 'fallback_over']);
  await clock.advance(1);
  gate.holds();
  expect(moves).toEqual(['lagging', 'fallback_over', 'fallback_over']);
  expect(counts.counts().waiting).toBe(1);
});

test('its read waits while it is on its way back, and does not end a second time', async () => {
  const { clock, counts, gate, progress, stays } = await onDetour();
  await clock.advance(10_000);
  gate.holds();
  progress('parked');
  expect([gate.takesPass(), counts.counts().waiting]).toEqual([false, 1]);
  gate.leaves();
  stays();
  expect([gate.takesPass(), counts.counts().waiting]).toEqual([false, 0]);
});

test.each([
  ['fallback_over: keep', { keeps: true }],
  ['its pool has no member of its own', { hasMembers: false }],
  ['it has no way to move', { isMovable: false }],
])('it stays at the primary: %s', async (_, circumstances) => {
  const { clock, moves, gate } = await onDetour(circumstances);
  await clock.advance(60_000);
  gate.holds();
  expect(gate.takesPass()).toBe(true);
  expect(moves).toEqual(['lagging']);
});
