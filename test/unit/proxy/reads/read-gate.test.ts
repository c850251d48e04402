// The gate of one session: which bytes pass at once, which wait for the train, and how a late read ends.
import { expect, test } from 'vitest';
import type { LateMode, ReadScope } from '../../../../src/model/causal-reads.ts';
import { ReadCounts } from '../../../../src/proxy/reads/read-counts.ts';
import { ReadGate, type ReadGateOptions } from '../../../../src/proxy/reads/read-gate.ts';
import type { TrainRead } from '../../../../src/proxy/reads/read-train.ts';
import type { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import type { Relay } from '../../../../src/proxy/relay/relay.ts';
import type { Server } from '../../../../src/proxy/server.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const REPLICA = { member: 'pg-2', address: { host: '10.0.0.2', port: 5432 } };
const WAIT_MS = 500;

interface Given {
  readonly scope?: ReadScope;
  readonly late?: LateMode;
  /** Another server can take the session. */
  readonly hasGoal?: boolean;
  readonly isMovable?: boolean;
  readonly isFree?: boolean;
}

/** A branch: the gate reads no more of it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as said
const NO_MEMBER = { address: REPLICA.address } as unknown as Server;

function aGate({ scope = 'cluster', late = 'error', hasGoal = true, isMovable = true, isFree = false }: Given = {}) {
  const clock = new ManualClock();
  const counts = new ReadCounts({ clock, late: { note: () => {} } });
  const [reads, removed, told, moves]: [TrainRead[], TrainRead[], string[], string[]] = [[], [], [], []];
  const state = {
    hasFollower: true,
    question: 0,
    acknowledged: { arrived: 3, shared: { word: undefined } },
    hasPolicy: true,
    isAtBoundary: true,
    mayGoOn: true,
    activity: 'idle',
    waiting: 1,
  };
  const endings: ((outcome: { kind: string }) => void)[] = [];
  const request = (cause: string, onEnd: (outcome: { kind: string }) => void): void => {
    moves.push(cause);
    endings.push(onEnd);
  };
  const options = {
    session: {
      pool: 'read',
      closing: undefined,
      assignment: () => ({ isFallback: false }),
      end: (reason: string) => void told.push(reason),
      movable: isMovable ? { request } : undefined,
    },
    train: {
      isFree: () => isFree,
      add: (read: TrainRead) => void reads.push(read),
      remove: (read: TrainRead) => void removed.push(read),
      wait: () => ({ why: 'unasked', primary: 'pg-1', unanswered: new Map() }),
      coversOf: () => () => true,
    },
    clock,
    newestQuestion: () => state.question,
    acknowledged: () => state.acknowledged,
    policy: () => (state.hasPolicy ? { scope, waitMs: WAIT_MS, late } : undefined),
    holdMs: () => 0,
    counts,
    detours: {
      goal: () => (hasGoal ? { next: () => undefined } : undefined),
      hasPrimary: () => true,
      hasOwnMembers: () => true,
    },
    keepsDetour: () => false,
  };
  const follower = { mayGoOn: () => state.mayGoOn, isAtBoundaryToClient: () => state.isAtBoundary };
  const conversation = {
    follower: () => (state.hasFollower ? follower : undefined),
    activity: () => state.activity,
    passToClient: () => void told.push('notice'),
  };
  const relay = { cancelWaiting: () => (state.waiting -= 1) >= 0 && told.push('error') > 0 };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate calls no more of its session and train
  const gate = new ReadGate(options as unknown as ReadGateOptions);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.reads(conversation as unknown as Conversation);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.relaysBy(relay as unknown as Relay);
  const pass = gate.startsAt(REPLICA, () => undefined);
  const stays = (): void => endings.at(-1)?.({ kind: 'stayed' });
  return { clock, counts, gate, pass, reads, removed, told, moves, state, stays };
}

test('bytes pass once after a yes, and each time where nothing is guaranteed', () => {
  const { gate, reads, state } = aGate();
  expect(gate.takesPass()).toBe(false);
  gate.holds();
  reads.at(-1)?.onYes('at_once');
  expect([gate.takesPass(), gate.takesPass()]).toEqual([true, false]);
  state.hasPolicy = false;
  expect([gate.takesPass(), gate.takesPass()]).toEqual([true, true]);
  state.hasPolicy = true;
  gate.startsAt(NO_MEMBER, () => undefined);
  expect([gate.takesPass(), gate.takesPass()]).toEqual([true, true]);
});

test('a yes lasts until the gate behind it makes the bytes wait', () => {
  const { gate, reads } = aGate();
  const pass = gate.startsAt(REPLICA, () => Promise.resolve());
  gate.holds();
  void pass();
  reads.at(-1)?.onYes('at_once');
  void pass();
  expect(gate.takesPass()).toBe(false);
});

test('with the scope proxy a read must see what was acknowledged here, also behind more bytes', () => {
  const { gate, pass, reads, state } = aGate({ scope: 'proxy' });
  state.question = 7;
  const before = state.acknowledged;
  gate.holds();
  void pass();
  state.acknowledged = { arrived: 6, shared: { word: undefined } };
  void pass();
  expect(reads.map(({ arrived }) => arrived)).toEqual([3, 6]);
  expect(reads.map(({ shared }) => shared === before.shared)).toEqual([true, false]);
});

test('behind more bytes the read is a newer one, which has waited since the first', async () => {
  const { clock, counts, gate, pass, reads, removed, state } = aGate();
  gate.holds();
  expect(pass()).toBeInstanceOf(Promise);
  await clock.advance(100);
  state.question = 7;
  expect(pass()).toBeInstanceOf(Promise);
  expect(reads.map(({ arrived, since }) => [arrived, since])).toEqual([
    [0, clock.now() - 100],
    [7, clock.now() - 100],
  ]);
  expect(removed).toEqual([reads[0]]);
  await clock.advance(50);
  reads.at(-1)?.onYes('waited');
  expect(removed).toEqual(reads);
  expect(counts.counts()).toMatchObject({ waiting: 0, waitedMs: 150, results: { waited: 1 } });
  expect(pass()).toBeUndefined();
});

test.each([
  ['answers are due', { mayGoOn: false }],
  ['the login', { hasFollower: false }],
  ['a message to the client is not whole', { isAtBoundary: false }],
])('a late read ends behind them: %s', async (_, changes) => {
  const { clock, gate, told, state } = aGate();
  gate.holds();
  Object.assign(state, changes);
  await clock.advance(WAIT_MS);
  gate.passedToClient();
  expect(told).toEqual([]);
  expect(gate.waiting()).toMatchObject({ isLate: true, member: 'pg-2' });
  Object.assign(state, { mayGoOn: true, isAtBoundary: true, hasFollower: true });
  gate.passedToClient();
  expect(told).toEqual(['error']);
  expect(gate.waiting()).toBeUndefined();
});

test.each([
  ['no other server may take the session', { hasGoal: false }],
  ['its state in the session cannot be carried', { isMovable: false }],
])('a late read that would move gets an error: %s', async (_, given) => {
  const { clock, counts, gate, told, moves } = aGate({ late: 'primary', ...given });
  gate.holds();
  await clock.advance(WAIT_MS);
  expect([moves, told]).toEqual([[], ['error']]);
  expect(counts.counts().results).toMatchObject({ error: 1, moved: 0 });
});

test('a move that comes to nothing ends in an error, once', async () => {
  const { clock, counts, gate, told, moves, stays } = aGate({ late: 'primary' });
  gate.holds();
  await clock.advance(WAIT_MS);
  gate.passedToClient();
  expect([moves, told]).toEqual([['lagging'], []]);
  stays();
  stays();
  expect(told).toEqual(['error']);
  expect(counts.counts()).toMatchObject({ waiting: 0, results: { error: 1 } });
});

test('a session that does not wait leaves nothing behind, and one that is at no member waits for nothing', () => {
  const { counts, gate, pass, reads, state } = aGate();
  state.hasPolicy = false;
  gate.holds();
  state.hasPolicy = true;
  gate.cancelled();
  gate.leaves();
  expect(gate.waiting()).toBeUndefined();
  gate.startsAt(NO_MEMBER, () => undefined);
  gate.holds();
  expect([counts.counts().waiting, reads, pass()]).toEqual([0, [], undefined]);
});

test('a pool that a reload removes while a read waits: the read gets its error', async () => {
  const { clock, gate, told, state } = aGate({ late: 'primary' });
  gate.holds();
  state.hasPolicy = false;
  await clock.advance(WAIT_MS);
  expect(told).toEqual(['error']);
});

test.each([
  ['of an open transaction runs', 'error', 'in_transaction', { waited: 1 }, []],
  ['that may be stale runs with a notice', 'stale', 'idle', { stale: 1 }, ['notice']],
] as const)('a late read %s', async (_, late, activity, results, said) => {
  const { clock, counts, gate, pass, told, state } = aGate({ late });
  gate.holds();
  state.activity = activity;
  await clock.advance(WAIT_MS);
  expect([told, gate.takesPass(), pass()]).toEqual([said, true, undefined]);
  expect(counts.counts()).toMatchObject({ waiting: 0, results });
});

test('a conversation that cannot be read ends, while something is guaranteed', () => {
  const { pass, told, state } = aGate();
  Object.assign(state, { hasPolicy: false, activity: undefined });
  void pass();
  expect(told).toEqual([]);
  state.hasPolicy = true;
  void pass();
  expect(told).toEqual(['causal_reads_unreadable']);
});

test('a refusal of nothing counts nowhere', async () => {
  const { clock, counts, gate, told, state } = aGate();
  state.waiting = 0;
  gate.holds();
  await clock.advance(WAIT_MS);
  expect(told).toEqual([]);
  expect(counts.counts()).toMatchObject({ waiting: 0, results: { error: 0 } });
});

test('a session that has not moved away has nowhere to go back to', async () => {
  const { clock, gate, moves } = aGate({ isFree: true, late: 'primary' });
  await clock.advance(60_000);
  gate.holds();
  expect(gate.takesPass()).toBe(true);
  expect(moves).toEqual([]);
});
