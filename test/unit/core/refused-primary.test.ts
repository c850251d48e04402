// A primary below the highest timeline ever seen, or with another system identifier: the conditions for its acceptance.
import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/observe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { refusedPrimaries, withAccepted } from '../../../src/core/refused-primary.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import {
  aList,
  answered,
  aPolicy,
  aSnapshot,
  aTable,
  isPrimary,
  isReplica,
  named,
  openIn,
  READ_CHECK,
  standingIn,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const NEW: MemberStatus = { scope: 'lab', systemIdentifier: '78' };
const OLD: MemberStatus = { scope: 'lab', systemIdentifier: '77' };

/** pg-2 was the primary on timeline 6. */
const BEFORE = [
  aList(0, 'pg-1', 'pg-2', 'pg-3'),
  isPrimary('pg-2', 0, { timeline: 6 }),
  isReplica('pg-1', 0, { timeline: 5 }),
  isReplica('pg-3', 0, { timeline: 6 }),
];

/**
 * Each second from `from` to `to`, both included: pg-1 leads on timeline 5, the others follow it, and pg-3 names it.
 */
function lower(from: number, to: number, each: (at: number) => readonly Observation[] = everybody): Observation[] {
  const seconds = Array.from({ length: to - from + 1 }, (_, index) => (from + index) * 1000);
  return seconds.flatMap((at) => each(at));
}

function everybody(at: number): Observation[] {
  return [
    isPrimary('pg-1', at, { timeline: 5 }),
    isReplica('pg-2', at, { timeline: 5 }),
    isReplica('pg-3', at, { timeline: 5 }),
    named('pg-1', 'pg-3', at),
  ];
}

function without(...left: readonly string[]): (at: number) => Observation[] {
  return (at) =>
    everybody(at).filter((observation) => observation.kind !== 'probe' || !left.includes(observation.member));
}

/** All agree, pg-3 with this body. */
function cluster(pg3: MemberStatus): (at: number) => Observation[] {
  return (at) => [
    isPrimary('pg-1', at, { timeline: 5, ...OLD }),
    isReplica('pg-2', at, { timeline: 5, ...OLD }),
    isReplica('pg-3', at, { timeline: 5, ...pg3 }),
    named('pg-1', 'pg-3', at),
  ];
}

function writers(now: number, ...news: readonly Observation[]): readonly string[] {
  return openIn(aTable(POLICY, now, ...BEFORE, ...news), 'write');
}

function missing(now: number, ...news: readonly Observation[]): readonly string[] {
  const [refused] = refusedPrimaries(POLICY.probe, aSnapshot(POLICY, ...BEFORE, ...news), now);
  return refused?.missing ?? ['nobody is refused'];
}

describe('a primary on a lower timeline', () => {
  test('is refused, and accepted after every member has agreed for 30 s', () => {
    expect(writers(49_500, ...lower(20, 49))).toEqual([]);
    expect(standingIn(aTable(POLICY, 49_500, ...BEFORE, ...lower(20, 49)), 'write', 'pg-1')).toBe(
      'leave demoted superseded',
    );
    expect(writers(50_100, ...lower(20, 50))).toEqual(['pg-1']);
  });

  test('then replicas of its timeline serve reads again, and a primary on a higher one is accepted', () => {
    const agreed = lower(20, 50);
    expect(openIn(aTable(POLICY, 50_100, ...BEFORE, ...agreed), 'read')).toEqual(['pg-2', 'pg-3']);
    const next = isPrimary('pg-3', 51_000, { timeline: 6 });
    expect(writers(51_100, ...agreed, next)).toEqual(['pg-3']);
    expect(aSnapshot(POLICY, ...BEFORE, ...agreed, next)).toMatchObject({
      highestTimeline: 6,
      highestTimelineBy: ['pg-3'],
      accepted: {
        at: 50_000,
        member: 'pg-1',
        kind: 'timeline',
        by: 'agreement',
        detail: 'timeline 5 instead of timeline 6',
      },
    });
  });

  test.each<[string, readonly Observation[], readonly string[]]>([
    [
      'the member that showed the higher one is silent',
      lower(20, 120, without('pg-2')),
      ['pg-2 reported timeline 6 and does not answer'],
    ],
    [
      'it answers on the higher one',
      lower(20, 120, (at) => [...without('pg-2')(at), isReplica('pg-2', at, { timeline: 6 })]),
      ['pg-2 reported timeline 6 and reports timeline 6'],
    ],
    [
      'it has agreed, and then fell silent',
      [...lower(20, 35), ...lower(36, 120, without('pg-2'))],
      ['pg-2 reported timeline 6 and does not answer'],
    ],
    [
      'it is no member any more',
      [...lower(20, 30, without('pg-2')), aList(31_000, 'pg-1', 'pg-3'), ...lower(31, 120, without('pg-2'))],
      ['pg-2 reported timeline 6 and does not answer'],
    ],
    [
      'another member that answers is on the higher one',
      lower(20, 120, (at) => [...without('pg-3')(at), isReplica('pg-3', at, { timeline: 6 })]),
      ['pg-3 reports timeline 6'],
    ],
    [
      'another member answers without a timeline',
      lower(20, 120, (at) => [...without('pg-3')(at), noTimeline('pg-3', at)]),
      ['pg-3 reports timeline unknown'],
    ],
    [
      'no other member names it leader',
      lower(20, 120, (at) => [...everybody(at).filter(({ kind }) => kind !== 'leader'), named('pg-1', 'pg-1', at)]),
      ["no other member's /cluster names pg-1 as the leader"],
    ],
    [
      'the others’ documents name another leader',
      lower(20, 120, (at) => [...everybody(at).filter(({ kind }) => kind !== 'leader'), named('pg-2', 'pg-3', at)]),
      ["no other member's /cluster names pg-1 as the leader"],
    ],
    [
      'a document comes from an unknown source',
      lower(20, 120, (at) => [...everybody(at).filter(({ kind }) => kind !== 'leader'), named('pg-1', 'pg-9', at)]),
      ["no other member's /cluster names pg-1 as the leader"],
    ],
  ])('stays refused when %s', (_, news, lacks) => {
    expect(writers(120_100, ...news)).toEqual([]);
    expect(missing(120_100, ...news)).toEqual(lacks);
  });

  test('a gap in the agreement restarts the 30 s', () => {
    const gap = lower(30, 41, without('pg-2'));
    expect(writers(55_100, ...lower(20, 29), ...gap, ...lower(42, 55))).toEqual([]);
    expect(writers(72_100, ...lower(20, 29), ...gap, ...lower(42, 72))).toEqual(['pg-1']);
  });

  test('a no of its own restarts the 30 s too', () => {
    const no = isReplica('pg-1', 35_500, { timeline: 5 });
    expect(writers(60_100, ...lower(20, 35), no, ...lower(36, 60))).toEqual([]);
    expect(writers(66_100, ...lower(20, 35), no, ...lower(36, 66))).toEqual(['pg-1']);
  });

  test('a silent member delays nothing, one that disagreed delays the acceptance by 30 s', () => {
    expect(writers(50_100, ...lower(20, 50, without('pg-3')))).toEqual(['pg-1']);
    const last = isReplica('pg-3', 40_000, { timeline: 6 });
    const agreed = lower(20, 69, without('pg-3'));
    const until = agreed.filter(({ startedAt }) => startedAt <= 40_000);
    const rest = agreed.filter(({ startedAt }) => startedAt > 40_000);
    expect(writers(69_100, ...until, last, ...rest)).toEqual([]);
    expect(writers(71_100, ...until, last, ...rest, ...lower(70, 71, without('pg-3')))).toEqual(['pg-1']);
  });

  test('a member of another cluster on its timeline does not agree, and one without an identifier does', () => {
    expect(missing(60_100, ...lower(20, 60, cluster(NEW)))).toEqual(['pg-3 reports timeline 5']);
    expect(writers(60_100, ...lower(20, 60, cluster({ scope: 'lab' })))).toEqual(['pg-1']);
  });

  test.each<[string, (at: number) => Observation[], number, readonly string[]]>([
    [
      'a document counts as long as a silent member keeps its sessions',
      (at) => everybody(at).filter(({ kind }) => kind !== 'leader'),
      40_000 + POLICY.probe.silenceGraceMs,
      ["no other member's /cluster names pg-1 as the leader"],
    ],
    [
      'a member that showed the higher timeline agrees as long as its answer is fresh',
      without('pg-2'),
      40_000 + POLICY.probe.readMaxAgeMs,
      ['pg-2 reported timeline 6 and does not answer'],
    ],
  ])('%s', (_, after, end, lacks) => {
    // Without the last answer the members have not agreed for long enough.
    const news = [...lower(20, 40), isReplica('pg-1', 40_500, { timeline: 5 }), ...lower(41, end / 1000, after)];
    const until = news.filter(({ startedAt }) => startedAt < end);
    expect(missing(end - 1, ...until)).toEqual([]);
    expect(missing(end, ...until)).toEqual(lacks);
  });

  test('a member that disagreed and fell silent delays it for 30 s to the millisecond', () => {
    const news = [...lower(20, 40), isReplica('pg-3', 40_500, { timeline: 6 }), ...lower(41, 75, without('pg-3'))];
    const until = news.filter(({ startedAt }) => startedAt < 70_499);
    expect(missing(70_499, ...until)).toEqual(['pg-3 reports timeline 6']);
    expect(missing(70_500, ...until)).toEqual([]);
  });

  test('nobody is refused once its own answer is too old, or a stranger answers at its address', () => {
    const end = 40_000 + POLICY.probe.readMaxAgeMs;
    const snapshot = aSnapshot(POLICY, ...BEFORE, ...lower(20, 40));
    expect(refusedPrimaries(POLICY.probe, snapshot, end - 1)).toHaveLength(1);
    expect(refusedPrimaries(POLICY.probe, snapshot, end)).toEqual([]);
    const stranger = observe(POLICY, snapshot, isPrimary('pg-1', 41_000, { scope: 'billing' }));
    expect(refusedPrimaries(POLICY.probe, stranger, 41_100)).toEqual([]);
  });

  test('has no time of agreement while something is missing', () => {
    const [all, some] = [lower(20, 40), lower(20, 40, without('pg-2'))].map((news) =>
      refusedPrimaries(POLICY.probe, aSnapshot(POLICY, ...BEFORE, ...news), 41_000),
    );
    expect(all).toMatchObject([{ agreedSince: 20_000 }]);
    expect(some).toMatchObject([{ agreedSince: undefined }]);
  });

  test('of two primaries on lower timelines neither is accepted', () => {
    const two = lower(20, 80, (at) => [...without('pg-3')(at), isPrimary('pg-3', at, { timeline: 5 })]);
    expect(writers(80_100, ...two)).toEqual([]);
    expect(missing(80_100, ...two)).toEqual(['pg-3 reports timeline 5 as a primary']);
  });

  test('no member counts as refused while a primary on the highest timeline answers', () => {
    const rival = lower(20, 60, (at) => [
      isPrimary('pg-1', at, { timeline: 5 }),
      isPrimary('pg-2', at, { timeline: 6 }),
    ]);
    expect(refusedPrimaries(POLICY.probe, aSnapshot(POLICY, ...BEFORE, ...rival), 60_100)).toEqual([]);
    expect(writers(60_100, ...rival)).toEqual(['pg-2']);
  });

  test('in a cluster of one no other member can name it: it stays refused until an operator accepts it', () => {
    const alone = [aList(0, 'pg-1'), isPrimary('pg-1', 0, { timeline: 6 })];
    const news = lower(20, 120, (at) => [isPrimary('pg-1', at, { timeline: 5 }), named('pg-1', 'pg-1', at)]);
    const snapshot = aSnapshot(POLICY, ...alone, ...news);
    const [refused] = refusedPrimaries(POLICY.probe, snapshot, 120_100);
    expect(refused).toMatchObject({
      member: 'pg-1',
      kind: 'timeline',
      since: 20_000,
      missing: ["no other member's /cluster names pg-1 as the leader"],
    });
    if (refused === undefined) throw new Error('nobody is refused');
    expect(withAccepted(snapshot, refused, 'operator', 120_100)).toMatchObject({
      highestTimeline: 5,
      highestTimelineBy: ['pg-1'],
      accepted: { by: 'operator', detail: 'timeline 5 instead of timeline 6' },
    });
  });
});

function noTimeline(member: string, at: number): Observation {
  return answered({ member, at, check: READ_CHECK, body: { role: 'replica', state: 'running' } });
}
