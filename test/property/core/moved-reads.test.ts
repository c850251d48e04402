// A read session never goes back in time: the server that it moves to shows everything that it has seen.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { catchUp, seemsCaughtUp, shownBy } from '../../../src/core/caught-up.ts';
import type { CatchUp } from '../../../src/core/caught-up.ts';
import { MovedReadsWorld, SERVERS } from './moved-reads-world.ts';
import type { Commit } from './moved-reads-world.ts';
import { rounds } from '../../support/runner/ci.ts';

type Step = readonly [kind: number, which: number];

const anyStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(0, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15),
  fc.nat({ max: 11 }),
);
/** Without failures of any kind. */
const calmStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 13, 13, 14, 15, 15, 15),
  fc.nat({ max: 11 }),
);

/** The lock passes on, and answers are late or old. */
const failoverStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(7, 7, 8, 9, 11, 13, 13, 14, 14, 15, 15),
  fc.nat({ max: 11 }),
);

function stepsOf(step: fc.Arbitrary<Step>, maxLength: number): fc.Arbitrary<readonly Step[]> {
  return fc.array(step, { maxLength });
}

interface Story {
  readonly before: readonly Step[];
  readonly whileReading: readonly Step[];
  readonly parked: readonly Step[];
  readonly after: readonly Step[];
  readonly from: number;
  readonly to: number;
}

function stories(step: fc.Arbitrary<Step>): fc.Arbitrary<Story> {
  return fc.record({
    before: stepsOf(step, 40),
    whileReading: stepsOf(step, 12),
    parked: stepsOf(step, 16),
    after: stepsOf(step, 12),
    from: fc.nat({ max: 2 }),
    to: fc.nat({ max: 2 }),
  });
}

interface Outcome {
  readonly verdict: CatchUp;
  /** Commits that the session saw on the old server and would not see on the next one. */
  readonly lost: readonly Commit[];
  readonly seen: number;
}

/** Undefined: one of the two servers restarted meanwhile, which ends the session's connection there. */
function run({ before, whileReading, parked, after, from, to }: Story): Outcome | undefined {
  const world = new MovedReadsWorld();
  const [old, next] = [SERVERS[from % 3] ?? 'pg-1', SERVERS[to % 3] ?? 'pg-1'];
  const take = (steps: readonly Step[]): void => {
    for (const [kind, which] of steps) world.step(kind, which);
  };
  take(before);
  const life = world.life(old);
  const seen = new Set(world.shows(old));
  for (const [kind, which] of whileReading) {
    world.step(kind, which);
    for (const commit of world.shows(old)) seen.add(commit);
  }
  if (world.life(old) !== life) return undefined;
  world.now += 1;
  const shown = shownBy(world.snapshot, old, world.says(old), world.now);
  take(parked);
  world.now += 1;
  const nextLife = world.life(next);
  const reached = { member: next, wal: world.says(next), at: world.now };
  take(after);
  if (world.life(next) !== nextLife) return undefined;
  const verdict = catchUp(world.policy.pools, world.snapshot, shown, reached);
  const visible = new Set(world.shows(next));
  return { verdict, lost: [...seen].filter((commit) => !visible.has(commit)), seen: seen.size };
}

/** The primary's commits are shown and flushed, and both standbys have replayed them. Then every member is probed. */
const SETTLED: readonly Step[] = [
  ...Array.from({ length: 12 }, (): Step => [1, 0]),
  [2, 0],
  ...Array.from({ length: 24 }, (): Step => [3, 0]),
  ...SERVERS.map((_, index): Step => [11, index]),
];
const PROBED: readonly Step[] = [[13, 0]];

function expectNothingLost(step: fc.Arbitrary<Step>, numRuns: number): void {
  fc.assert(
    fc.property(stories(step), fc.boolean(), (story, isProbedAtLast) => {
      const after = isProbedAtLast ? [...story.after, ...PROBED] : story.after;
      const outcome = run({ ...story, before: [...PROBED, ...story.before], after });
      if (outcome?.verdict.kind === 'caught_up') expect(outcome.lost).toEqual([]);
    }),
    { numRuns: rounds(numRuns / 4, numRuns) },
  );
}

test('G24: a session that moves sees everything on its next server that it has seen before', () => {
  expectNothingLost(anyStep, 8000);
});

test('and so in a cluster without failures, where servers differ by their replay alone', () => {
  expectNothingLost(calmStep, 4000);
});

test('and so where the lock passes on again and again, and APIs report what they knew before', () => {
  expectNothingLost(failoverStep, 8000);
});

test('once the next server has everything, a probe of each member proves it', () => {
  fc.assert(
    fc.property(stories(calmStep), (story) => {
      const settled = { before: [...story.before, ...PROBED], parked: [...story.parked, ...SETTLED] };
      const outcome = run({ ...story, ...settled, after: PROBED });
      expect(outcome?.verdict).toEqual({ kind: 'caught_up' });
    }),
    { numRuns: 1000 },
  );
});

test('a server that seems to have caught up by its probes alone is never on another timeline', () => {
  fc.assert(
    fc.property(stories(anyStep), ({ before, parked, from, to }) => {
      const world = new MovedReadsWorld();
      const [old, next] = [SERVERS[from % 3] ?? 'pg-1', SERVERS[to % 3] ?? 'pg-1'];
      for (const [kind, which] of before) world.step(kind, which);
      const shown = shownBy(world.snapshot, old, world.says(old), world.now);
      for (const [kind, which] of parked) world.step(kind, which);
      if (seemsCaughtUp(world.policy.pools, world.snapshot, shown, next)) {
        expect(shown.timeline).toBe(world.snapshot.highestTimeline);
      }
    }),
    { numRuns: 1000 },
  );
});
