// The directory of branches against a source that the test answers by hand, on a clock driven by hand.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ApiError } from '../../../src/http/request.ts';
import { BranchDirectory } from '../../../src/branches/directory.ts';
import type { Branch, BranchesPolicy, BranchListEvent, BranchLookup } from '../../../src/model/branch.ts';
import { branch, branchesPolicy } from '../../support/values/branch-lists.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

interface Read {
  readonly at: number;
  readonly signal: AbortSignal;
  readonly answer: (list: readonly Branch[]) => void;
  readonly fail: (error: unknown) => void;
}

const [ONE, TWO] = [branch('br-1'), branch('br-2')];
const REFUSED = new ApiError('unreachable', 'GET /x of the console: connection refused');
const START = 100_000;

function lab(policy: BranchesPolicy = branchesPolicy(), pools: readonly string[] = ['write']) {
  const clock = new ManualClock(START);
  const reads: Read[] = [];
  const events: BranchListEvent[] = [];
  /** While set, it answers every read at once. */
  const world: { list: readonly Branch[] | Error | undefined } = { list: undefined };
  const directory = new BranchDirectory(policy, {
    clock,
    random: () => 0.5,
    fetchList: (_source, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Branch[]>();
      reads.push({ at: clock.now() - START, signal, answer: resolve, fail: reject });
      if (world.list instanceof Error) reject(world.list);
      else if (world.list !== undefined) resolve(world.list);
      return promise;
    },
    poolOf: (target) => pools.find((pool) => pool === target),
    onEvent: (event) => events.push(event),
  });
  const told = () => events.filter(({ kind }) => kind !== 'branch_list_read');
  return { clock, reads, events, told, world, directory };
}

/** A directory that has read this list. */
async function labWith(list: readonly Branch[], policy?: BranchesPolicy) {
  const parts = lab(policy);
  parts.world.list = list;
  parts.directory.start();
  await parts.clock.advance(2000);
  return parts;
}

/** The answers so far, in the order of the questions. */
function collected(lookups: readonly (BranchLookup | Promise<BranchLookup>)[]) {
  const answers: (string | undefined)[] = lookups.map(() => undefined);
  for (const [i, lookup] of lookups.entries()) void Promise.resolve(lookup).then(({ kind }) => (answers[i] = kind));
  return answers;
}

test('the list is read at the start and then at its pace, a tenth earlier or later', async () => {
  const { clock, reads, world, directory } = lab();
  world.list = [ONE];
  directory.start();
  expect(directory.status()).toMatchObject({ branches: 0, readAt: undefined });
  await clock.advance(30_000);
  expect(reads.map(({ at }) => at)).toEqual([0, 15_000, 30_000]);
  expect(directory.status()).toEqual({ source: 'console', branches: 1, readAt: START + 30_000, failing: undefined });
  directory.stop();
  expect(clock.pending()).toBe(0);
});

test('a long list is taken in many turns, between which clients are served', async () => {
  const { reads, directory } = lab();
  directory.start();
  reads[0]?.answer(Array.from({ length: 30_000 }, (_, number) => branch(`br-${number}`)));
  let turns = 0;
  while (directory.index() === undefined) {
    await nextTurn();
    turns += 1;
  }
  expect(turns).toBeGreaterThan(3);
  expect(directory.index()?.branches).toHaveLength(30_000);
  directory.stop();
});

test.each([
  [0, 13_500],
  [0.5, 15_000],
  [0.999_999, 16_500],
])('with chance %d the next read is after %d ms', async (chance, expected) => {
  const clock = new ManualClock();
  const at: number[] = [];
  const directory = new BranchDirectory(branchesPolicy(), {
    clock,
    random: () => chance,
    fetchList: async () => {
      at.push(clock.now());
      return [];
    },
    poolOf: () => undefined,
    onEvent: () => {},
  });
  directory.start();
  await clock.advance(17_000);
  directory.stop();
  expect(Math.round((at[1] ?? 0) - (at[0] ?? 0))).toBe(expected);
});

test('a branch of the list needs no read and no promise', async () => {
  const { reads, directory } = await labWith([ONE]);
  expect(directory.locate('1', 'write')).toMatchObject({ kind: 'found', branch: ONE });
  expect(reads).toHaveLength(1);
});

test('100 misses at a time share one read, which begins after the last of them', async () => {
  const { clock, reads, world, directory } = await labWith([ONE]);
  world.list = undefined;
  const lookups: Promise<BranchLookup>[] = [];
  for (let i = 0; i < 100; i++) {
    lookups.push(Promise.resolve(directory.locate(i % 2 === 0 ? '2' : 'nobody', 'write')));
    await clock.advance(2);
  }
  expect(reads).toHaveLength(1);
  await clock.advance(100);
  expect(reads).toHaveLength(2);
  reads[1]?.answer([ONE, TWO]);
  const kinds = (await Promise.all(lookups)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'found')).toHaveLength(50);
  expect(kinds.filter((kind) => kind === 'unknown')).toHaveLength(50);
  await clock.advance(5000);
  expect(reads).toHaveLength(2);
});

test('misses that never pause delay the read by half a second at most', async () => {
  const { clock, reads, world, directory } = await labWith([]);
  world.list = undefined;
  for (let i = 0; i < 60; i++) {
    void directory.locate(`nobody-${i}`, 'write');
    await clock.advance(10);
  }
  expect(reads.map(({ at }) => at)).toEqual([0, 2500]);
});

test('misses cause at most one read per second', async () => {
  const { clock, reads, directory } = await labWith([]);
  for (let i = 0; i < 50; i++) {
    void directory.locate('nobody', 'write');
    await clock.advance(100);
  }
  const causedAt = reads.slice(1).map(({ at }) => at);
  expect(causedAt[0]).toBe(2100);
  expect(causedAt.every((at, i) => i === 0 || at - (causedAt[i - 1] ?? 0) >= 1000)).toBe(true);
  expect(causedAt.length).toBeGreaterThan(3);
});

test('a read that began before the question says yes, and never no', async () => {
  const { clock, reads, world, directory } = await labWith([]);
  world.list = undefined;
  void directory.locate('other', 'write');
  await clock.advance(100);
  const answers = collected([directory.locate('1', 'write'), directory.locate('2', 'write')]);
  reads[1]?.answer([ONE]);
  await clock.advance(10);
  expect(answers).toEqual(['found', undefined]);
  await clock.advance(1000);
  expect(reads).toHaveLength(3);
  reads[2]?.answer([ONE, TWO]);
  await clock.advance(10);
  expect(answers).toEqual(['found', 'found']);
});

test('G23: an outage keeps the last good list, and is told once, as is its end', async () => {
  const { clock, reads, events, told, world, directory } = await labWith([ONE]);
  world.list = REFUSED;
  await clock.advance(58_000);
  expect(reads.map(({ at }) => at)).toEqual([0, 15_000, 30_000, 45_000, 60_000]);
  expect(directory.locate('1', 'read')).toMatchObject({ kind: 'found' });
  expect(directory.status()).toMatchObject({
    branches: 1,
    readAt: START,
    failing: { failure: 'unreachable', why: REFUSED.message, since: START + 15_000 },
  });
  const failed = { failure: 'unreachable', why: REFUSED.message, branches: 1, ageMs: 15_000 };
  expect(told()).toEqual([{ kind: 'branch_list_failed', ...failed }]);
  world.list = [TWO];
  await clock.advance(15_000);
  expect(told().slice(1)).toEqual([{ kind: 'branch_list_recovered', branches: 1, failedForMs: 60_000 }]);
  expect(directory.status().failing).toBeUndefined();
  expect(directory.locate('2', 'write')).toMatchObject({ kind: 'found' });
  expect(events.filter(({ kind }) => kind === 'branch_list_read')).toHaveLength(6);
});

test('a miss while the list cannot be read is no word about the branch', async () => {
  const { clock, reads, world, directory } = await labWith([ONE]);
  world.list = REFUSED;
  const first = directory.locate('2', 'write');
  await clock.advance(100);
  expect(await first).toEqual({ kind: 'unavailable', why: REFUSED.message });
  expect(directory.locate('2', 'write')).toEqual({ kind: 'unavailable', why: REFUSED.message });
  expect(reads).toHaveLength(2);
  await clock.advance(1000);
  const later = directory.locate('2', 'write');
  world.list = [ONE, TWO];
  await clock.advance(100);
  expect(await later).toMatchObject({ kind: 'found', branch: TWO });
});

test('before the first list a client waits for it', async () => {
  const { clock, reads, directory } = lab();
  directory.start();
  const answers = collected([directory.locate('1', 'write'), directory.locate('nobody', 'write')]);
  await clock.advance(3000);
  expect([answers, directory.index()]).toEqual([[undefined, undefined], undefined]);
  reads[0]?.answer([ONE]);
  await clock.advance(1000);
  expect(answers[0]).toBe('found');
  reads[1]?.answer([ONE]);
  await clock.advance(0);
  expect(answers).toEqual(['found', 'unknown']);
});

test('a first read that fails leaves nothing to guess with', async () => {
  const { clock, told, world, directory } = lab();
  world.list = new Error('no words of a library');
  directory.start();
  await clock.advance(0);
  expect(directory.locate('1', 'write')).toMatchObject({ kind: 'unavailable' });
  expect(told()).toMatchObject([{ kind: 'branch_list_failed', failure: 'local', branches: 0, ageMs: undefined }]);
});

test('a branch that is gone from the list is unknown', async () => {
  const { clock, world, directory } = await labWith([ONE]);
  world.list = [];
  await clock.advance(15_000);
  const lookup = directory.locate('1', 'write');
  await clock.advance(1000);
  expect(await lookup).toEqual({ kind: 'unknown' });
});

test('a branch with the name or the slug of a pool is told once', async () => {
  const { clock, told, world, directory } = lab(branchesPolicy(), ['write', 'read']);
  world.list = [branch('br-1', { name: 'write' }), branch('br-2', { name: 'READ' }), TWO];
  directory.start();
  await clock.advance(60_000);
  expect(told()).toEqual([
    { kind: 'branch_shadowed', branch: { id: 'br-1', name: 'write' }, pool: 'write' },
    { kind: 'branch_shadowed', branch: { id: 'br-2', name: 'READ' }, pool: 'read' },
  ]);
});

test('the source static is its own list: no read, no wait', () => {
  const source = { kind: 'static', branches: new Map([['pr-1', { host: '10.0.0.9', port: 5432 }]]) } as const;
  const { clock, reads, directory } = lab(branchesPolicy({ source }));
  directory.start();
  expect(directory.locate('pr-1', 'write')).toMatchObject({ kind: 'found', backend: { rule: 'static' } });
  expect(directory.locate('pr-2', 'write')).toEqual({ kind: 'unknown' });
  expect(directory.status()).toEqual({ source: 'static', branches: 1, readAt: clock.now(), failing: undefined });
  expect([reads.length, clock.pending()]).toEqual([0, 0]);
});

test('another policy for the same source keeps the list, also during an outage', async () => {
  const { clock, reads, world, directory } = await labWith([ONE]);
  world.list = REFUSED;
  await clock.advance(15_000);
  directory.reconfigure(branchesPolicy({ allow: ['2'] }));
  expect(directory.locate('1', 'write')).toMatchObject({ kind: 'not_allowed' });
  expect(directory.status()).toMatchObject({ branches: 1, readAt: START });
  expect(reads).toHaveLength(2);
});

test('a shorter pace counts from the last read', async () => {
  const { clock, reads, directory } = await labWith([ONE]);
  directory.reconfigure(branchesPolicy({ refreshMs: 5000 }));
  await clock.advance(8000);
  expect(reads.map(({ at }) => at)).toEqual([0, 5000, 10_000]);
});

test('another source has no list yet: clients that wait get its answer', async () => {
  const { clock, reads, world, directory } = await labWith([ONE]);
  world.list = undefined;
  const answers = collected([directory.locate('2', 'write')]);
  await clock.advance(100);
  const source = { kind: 'console', url: 'http://other.test', project: 'p', apiKeyFile: '/no/key' } as const;
  directory.reconfigure(branchesPolicy({ source }));
  expect(directory.index()).toBeUndefined();
  expect(reads[1]?.signal.aborted).toBe(true);
  reads[1]?.answer([ONE, TWO]);
  await clock.advance(0);
  expect([answers, directory.index(), reads.length]).toEqual([[undefined], undefined, 3]);
  reads[2]?.answer([TWO]);
  await clock.advance(0);
  expect(answers).toEqual(['found']);
});

test('the end leaves no client waiting, no request and no timer', async () => {
  const { clock, reads, world, directory } = await labWith([ONE]);
  world.list = undefined;
  const lookup = directory.locate('2', 'write');
  await clock.advance(100);
  directory.stop();
  expect(await lookup).toMatchObject({ kind: 'unavailable' });
  expect(reads[1]?.signal.aborted).toBe(true);
  reads[1]?.fail(REFUSED);
  await clock.advance(60_000);
  expect([clock.pending(), reads.length]).toEqual([0, 2]);
  expect(directory.locate('nobody', 'write')).toMatchObject({ kind: 'unavailable' });
});

test.each([
  [new ApiError('timeout', 'x'), 'timeout'],
  [new ApiError('denied', 'x', 401), 'denied'],
  [new Error('x'), 'local'],
])('%o is a failure of its kind', async (error, failure) => {
  const { clock, events, world, directory } = lab();
  world.list = error;
  directory.start();
  await clock.advance(0);
  expect(events[0]).toMatchObject({ kind: 'branch_list_read', outcome: failure, why: 'x' });
});
