// The proof that a session lost nothing, against a server whose whole WAL the test knows: writes, their way to the
// disk, slow probes, the loss, and how late the session notices it. Most of it happens around the last answer.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { coverageOf, flushedAt, proofOf } from '../../../src/core/coverage.ts';
import type { Coverage, ServerRun, LastAnswer, WalSample } from '../../../src/core/coverage.ts';
import { emptySnapshot, newRecord } from '../../../src/core/snapshot.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { withSnapshot } from '../../../src/core/wal-samples.ts';
import type { WalSamples } from '../../../src/core/wal-samples.ts';
import { aMember } from '../../support/values/builders.ts';

/** The WAL writer takes up to three rounds. */
const ROUNDS = 3;
/** When the server gave the session its last answer. */
const TOLD_AT = 10_000;

interface Write {
  readonly at: number;
  readonly bytes: number;
  /** The part of the time that the WAL writer may take. */
  readonly flushed: number;
}
interface Probe {
  readonly at: number;
  readonly readMs: number;
  readonly answerMs: number;
}
interface World {
  readonly writes: readonly Write[];
  readonly walWriterDelayMs: number;
  readonly probes: readonly Probe[];
  readonly answerMs: number;
  /** The server stops, without what is not on disk. */
  readonly lossAt: number;
  readonly noticedMs: number;
  /** The server comes back: started again, or with its first start time. Absent: it does not. */
  readonly comesBack: 'restarted' | 'recovered' | undefined;
  /** The next primary is another one, also when the server came back. It has this part of the server's WAL on disk. */
  readonly received: number | undefined;
}

const ms = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most });
const around = (before: number, after: number): fc.Arbitrary<number> =>
  fc.integer({ min: TOLD_AT - before, max: TOLD_AT + after });

const worlds: fc.Arbitrary<World> = fc.record({
  writes: fc.array(
    fc.record({
      at: around(800, 300),
      bytes: fc.integer({ min: 1, max: 50 }),
      flushed: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
    }),
    { maxLength: 8 },
  ),
  walWriterDelayMs: fc.constantFrom(10, 200, 200, 300, 700, 1_500),
  probes: fc.array(fc.record({ at: around(2_000, 8_000), readMs: ms(200), answerMs: ms(200) }), { maxLength: 20 }),
  answerMs: ms(100),
  lossAt: around(0, 8_000),
  noticedMs: ms(2_000),
  comesBack: fc.constantFrom(undefined, 'restarted' as const, 'recovered' as const),
  received: fc.constantFrom(undefined, 0, 0.5, 0.9, 1, 1, 1),
});

/** WAL that was written by then. */
function written({ writes }: World, at: number): number {
  return writes.filter((write) => write.at <= at).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** WAL that is on disk by then: with each part everything before it. Nothing more gets there after the loss. */
function onDisk(world: World, at: number): number {
  const latestMs = ROUNDS * world.walWriterDelayMs;
  const flushed = world.writes.filter((write) => write.at + write.flushed * latestMs <= Math.min(at, world.lossAt));
  return Math.max(0, ...flushed.map((write) => written(world, write.at)));
}

/** Undefined: the server is down. */
function sampleAt(world: World, { at, readMs }: Probe): WalSample | undefined {
  const readAt = at + readMs;
  const isAfter = readAt >= world.lossAt;
  if (isAfter && world.comesBack === undefined) return undefined;
  const startedAt = isAfter && world.comesBack === 'restarted' ? 'later' : 'first';
  return { at, run: { timeline: 1, startedAt }, bytes: onDisk(world, readAt) };
}

function samplesBy(world: World, instant: number): readonly WalSample[] {
  let known: WalSamples = new Map();
  const answers = world.probes.filter(({ at, readMs, answerMs }) => at + readMs + answerMs <= instant);
  for (const probe of answers.toSorted((a, b) => a.at - b.at)) {
    const sample = sampleAt(world, probe);
    if (sample !== undefined) known = withSnapshot(known, snapshotWith(sample));
  }
  return known.get('pg-1') ?? [];
}

function snapshotWith({ at, bytes, run }: WalSample): Snapshot {
  const record = { ...newRecord(aMember('pg-1')), positions: [{ at, kind: 'location' as const, bytes, ...run }] };
  return { ...emptySnapshot('lab'), members: new Map([['pg-1', record]]) };
}

interface Judged {
  readonly coverage: Coverage;
  readonly isLost: boolean;
}

function judged(world: World): Judged {
  const { lossAt, answerMs, noticedMs, received, walWriterDelayMs } = world;
  const toldAt = TOLD_AT + answerMs;
  const run = { timeline: 1, startedAt: 'first' };
  const told: LastAnswer = { member: 'pg-1', flushedAt: flushedAt(toldAt, walWriterDelayMs), run };
  const noticedAt = Math.max(toldAt, lossAt + noticedMs);
  const proof = proofOf(told, samplesBy(world, noticedAt));
  const kept = onDisk(world, lossAt);
  const survives = Math.floor(kept * (received ?? 1));
  const after: ServerRun = { timeline: received === undefined ? 1 : 2, startedAt: 'next' };
  const sample = { at: noticedAt, run: after, bytes: survives };
  const next = { member: received === undefined ? 'pg-1' : 'pg-2', sample };
  const ends = { timeline: 2, primary: 'pg-2', ends: new Map([[1, survives]]) };
  const coverage = coverageOf({ told, proof, at: noticedAt }, next, ends);
  return { coverage, isLost: written(world, TOLD_AT) > survives };
}

test('G24: a session that was told what the next primary does not have is never covered', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const { coverage, isLost } = judged(world);
      if (coverage.kind === 'covered') expect(isLost).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

test('the worlds have covered sessions and lost ones', () => {
  const results = fc.sample(worlds, 2_000).map((world) => judged(world));
  expect(results.some(({ coverage }) => coverage.kind === 'covered')).toBe(true);
  expect(results.some(({ isLost }) => isLost)).toBe(true);
});
