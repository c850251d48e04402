// A causal read shows every commit that was acknowledged before it arrived, and that no failover has lost. The same
// property finds each of the rules that must not be weakened.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, primaryServer } from '../../../src/core/read-index.ts';
import type { ReadEvidence, ReadVerdict, ServerWords, WaitingRead } from '../../../src/core/read-index.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { ANSWER_ALL, ASK_PRIMARY, ASK_REPLICA, AskingWorld, type Step } from './asking-world.ts';
import { SERVERS } from './moved-reads-world.ts';
import type { Commit } from './moved-reads-world.ts';
import { rounds } from '../../support/runner/ci.ts';

const anyStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15, 20, 20, 21, 21, 22, 22, 23, 23),
  fc.nat({ max: 11 }),
);
/** The lock passes on again and again, and the servers are asked all the time. */
const failoverStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(0, 1, 3, 4, 9, 9, 11, 13, 13, 14, 14, 15, 15, 15, 20, 20, 21, 21, 22, 22, 23, 23),
  fc.nat({ max: 11 }),
);
/** Commits that are acknowledged before they are flushed, and standbys that are behind. */
const asynchronousStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(0, 0, 1, 1, 2, 3, 3, 13, 15, 15, 20, 20, 21, 21, 22, 23, 23),
  fc.nat({ max: 11 }),
);
const restartStep: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(10, 13, 14, 14, 15, 15, 15, 20, 20, 21, 23, 23),
  fc.nat({ max: 11 }),
);

interface Story {
  readonly before: readonly Step[];
  /** From the session's connect to the read's arrival. */
  readonly connected: readonly Step[];
  readonly waiting: readonly Step[];
  readonly server: number;
}

function stories(step: fc.Arbitrary<Step>): fc.Arbitrary<Story> {
  const steps = (maxLength: number): fc.Arbitrary<readonly Step[]> => fc.array(step, { maxLength });
  return fc.record({ before: steps(40), connected: steps(20), waiting: steps(24), server: fc.nat({ max: 2 }) });
}

/** A standby that is asked when it has all, and then restarts from further back. */
const restarts = stories(restartStep).map((story): Story => {
  const { before, server } = story;
  return { ...story, before: [...before, [11, server], [ASK_REPLICA, server], [ANSWER_ALL, 0], [10, server]] };
});

/** A server has commits that the next primary lacks, which writes others in their place. */
const ahead = stories(failoverStep).map((story): Story => {
  const commits = Array.from({ length: 3 }, (): Step => [14, 0]);
  return {
    ...story,
    before: [...commits, [9, 1], ...story.before],
    connected: [...story.connected, [14, 0]],
    server: 0,
  };
});

interface Judged {
  readonly evidence: ReadEvidence;
  readonly read: WaitingRead;
  readonly words: ServerWords;
}

/** A rule that is weaker, as the same rule with other facts. */
type Weakness = (judged: Judged) => Judged;

interface Outcome {
  readonly verdict: ReadVerdict;
  readonly missing: readonly Commit[];
}

/** Undefined: the session has lost its server. */
function run({ before, connected, waiting, server }: Story, weakness: Weakness): Outcome | undefined {
  const asking = new AskingWorld();
  const { world } = asking;
  const name = SERVERS[server % SERVERS.length] ?? 'pg-1';
  world.step(13, 0);
  asking.take(before);
  const life = world.life(name);
  const connectedAt = asking.newest;
  asking.take(connected);
  const mustBeShown = [...asking.acknowledged];
  asking.lost.clear();
  const read = { server: asking.server(name), connected: connectedAt, arrived: asking.newest };
  asking.take(waiting);
  if (world.life(name) !== life) return undefined;
  const judged = weakness({ evidence: asking.evidence(), read, words: asking.words(name) });
  const verdict = judge(judged.evidence.snapshot, primaryServer(judged.evidence), judged.read, judged.words);
  const shown = new Set(world.shows(name));
  // A commit that a primary did not have meanwhile is lost, or there is no primary that could say so.
  const isKept = (commit: Commit): boolean => world.primary() !== undefined && !asking.lost.has(commit);
  const missing = mustBeShown.filter((commit) => !shown.has(commit) && isKept(commit));
  return { verdict, missing };
}

const AS_IT_IS: Weakness = (judged) => judged;

function holds(story: fc.Arbitrary<Story>, weakness: Weakness): fc.IProperty<[Story]> {
  return fc.property(story, (told) => {
    const outcome = run(told, weakness);
    if (outcome?.verdict.kind === 'yes') expect(outcome.missing).toEqual([]);
  });
}

for (const [name, story] of [
  ['whatever happens', stories(anyStep)],
  ['while the lock passes on again and again', stories(failoverStep)],
  ['where commits are acknowledged before they are flushed', stories(asynchronousStep)],
  ['where standbys restart', restarts],
  ['of a server that is ahead of the promoted one', ahead],
] as const) {
  test(`G26: a causal read shows all that was acknowledged before it, ${name}`, () => {
    fc.assert(holds(story, AS_IT_IS), { numRuns: rounds(2000, 8000) });
  });
}

const SETTLED: readonly Step[] = [
  [ASK_PRIMARY, 0],
  [ASK_REPLICA, 0],
  [ASK_REPLICA, 1],
  [ASK_REPLICA, 2],
  [ANSWER_ALL, 0],
];

test('once its server has everything, one question to each proves it', () => {
  const calm = fc.tuple(fc.constantFrom(0, 1, 2, 3, 4, 5, 13, 14, 15, 20, 21, 22), fc.nat({ max: 11 }));
  fc.assert(
    fc.property(stories(calm), (story) => {
      const all: readonly Step[] = [[2, 0], ...SERVERS.map((_, index): Step => [11, index]), [13, 0], ...SETTLED];
      const outcome = run({ ...story, waiting: [...story.waiting, ...all] }, AS_IT_IS);
      if (outcome !== undefined) expect(outcome.verdict).toEqual({ kind: 'yes' });
    }),
    { numRuns: 500 },
  );
});

function withStatusTimeline(snapshot: Snapshot, timeline: number): Snapshot {
  const members = [...snapshot.members].map(([name, record]) => {
    const { status } = record;
    const changed = status === undefined ? record : { ...record, status: { ...status, timeline } };
    return [name, changed] as const;
  });
  return { ...snapshot, members: new Map(members) };
}

const WEAKNESSES: readonly (readonly [name: string, story: fc.Arbitrary<Story>, weakness: Weakness])[] = [
  [
    'an answer from before the arrival counts',
    stories(anyStep),
    (judged) => ({ ...judged, read: { ...judged.read, arrived: -1 } }),
  ],
  [
    'a position from before the connection counts',
    restarts,
    ({ words, read, evidence }) => ({ evidence, words, read: { ...read, connected: -1 } }),
  ],
  [
    'the flushed position is the target',
    stories(asynchronousStep),
    ({ words: { primary, replica }, ...judged }) => ({
      ...judged,
      words: { replica, primary: primary && { ...primary, written: primary.flushed } },
    }),
  ],
  [
    'positions compare on any timeline',
    ahead,
    ({ evidence, ...judged }) => ({
      ...judged,
      evidence: {
        ...evidence,
        snapshot: withStatusTimeline(evidence.snapshot, evidence.snapshot.highestTimeline ?? 1),
      },
    }),
  ],
];

for (const [name, story, weakness] of WEAKNESSES) {
  test(`the property finds a rule where ${name}`, () => {
    const { failed } = fc.check(holds(story, weakness), { numRuns: 20_000, endOnFailure: true });
    expect(failed).toBe(true);
  });
}
