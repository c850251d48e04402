// A primary below the highest timeline ever seen, or with another system identifier: the conditions for its acceptance.
import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/observe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { refusedPrimaries, withAccepted } from '../../../src/core/refused-primary.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aSnapshot,
  aTable,
  isPrimary,
  isReplica,
  named,
  openIn,
  READ_CHECK,
  silent,
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
    expect(missing(60_100, ...rival)).toEqual(['nobody is refused']);
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

function upgraded(at: number): Observation[] {
  return [
    isPrimary('pg-1', at, { ...NEW, timeline: 1, location: 5 }),
    isReplica('pg-2', at, { ...NEW, timeline: 1 }),
    named('pg-1', 'pg-2', at),
  ];
}

/** pg-1 leads with the new identity, and pg-3 names it. */
function alone(at: number): Observation[] {
  return [isPrimary('pg-1', at, NEW), named('pg-1', 'pg-3', at)];
}

describe('a primary with another system identifier under the same scope', () => {
  const before = [
    aList(0, 'pg-1', 'pg-2', 'pg-3'),
    isPrimary('pg-2', 0, { ...OLD, timeline: 6 }),
    isReplica('pg-1', 0, { ...OLD, timeline: 6 }),
    silent({ member: 'pg-3' }),
  ];
  const after = (news: readonly Observation[]): Snapshot => aSnapshot(POLICY, ...before, ...news);

  test('is refused, and accepted after its old primary and every answering member have agreed for 30 s', () => {
    expect(after(lower(20, 49, upgraded)).systemIdentifier).toBe('77');
    const accepted = after(lower(20, 50, upgraded));
    expect(accepted).toMatchObject({
      systemIdentifier: '78',
      highestTimeline: 1,
      accepted: {
        kind: 'cluster_identity',
        member: 'pg-1',
        detail: 'system identifier 78 instead of system identifier 77',
      },
    });
    expect(openIn(aTable(POLICY, 51_100, ...before, ...lower(20, 51, upgraded)), 'write')).toEqual(['pg-1']);
  });

  test('the new cluster is not compared with facts of the old one', () => {
    const accepted = after(lower(20, 50, upgraded));
    const positions = [...accepted.members.values()].flatMap((record) => record.positions);
    expect(positions.filter(({ at }) => at < 50_000)).toEqual([]);
    expect(accepted.members.get('pg-3')?.checks.size).toBe(0);
  });

  test.each<[string, (at: number) => Observation[], readonly string[]]>([
    [
      'the old primary is silent',
      (at) => [isPrimary('pg-1', at, { ...NEW, timeline: 1 }), named('pg-1', 'pg-2', at)],
      ['pg-2 reported system identifier 77 and does not answer'],
    ],
    [
      'a member that answers shows the old one',
      (at) => [...upgraded(at), isReplica('pg-3', at, OLD)],
      ['pg-3 reports system identifier 77'],
    ],
    [
      'it does not report its identity any more',
      (at) => [
        isPrimary('pg-1', at, { timeline: 6 }),
        isReplica('pg-2', at, { timeline: 6 }),
        named('pg-1', 'pg-2', at),
      ],
      ['pg-1 does not report its identity'],
    ],
  ])('stays refused when %s', (_, each, lacks) => {
    const snapshot = after(lower(20, 120, each));
    expect(snapshot.systemIdentifier).toBe('77');
    expect(refusedPrimaries(POLICY.probe, snapshot, 120_100).flatMap((refused) => refused.missing)).toEqual(lacks);
  });

  test('without a past primary, the members with the old identifier must report the new one', () => {
    const replicas = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isReplica('pg-2', 0, OLD)];
    const snapshot = aSnapshot(POLICY, ...replicas, ...lower(20, 80, alone));
    expect(refusedPrimaries(POLICY.probe, snapshot, 80_100).flatMap((refused) => refused.missing)).toEqual([
      'pg-2 reported system identifier 77 and does not answer',
    ]);
    const gone = observe(POLICY, snapshot, aList(80_200, aMember('pg-1'), aMember('pg-3')));
    expect(refusedPrimaries(POLICY.probe, gone, 80_300).flatMap((refused) => refused.missing)).toEqual([
      'no known member reported the old identity',
    ]);
    const all = lower(20, 51, (at) => [...alone(at), isReplica('pg-2', at, NEW)]);
    expect(aSnapshot(POLICY, ...replicas, ...all).systemIdentifier).toBe('78');
  });

  test('a foreign server at the address of the old primary cannot be accepted', () => {
    const stranger = lower(20, 60, (at) => [
      isPrimary('pg-2', at, { scope: 'billing', systemIdentifier: '99' }),
      isPrimary('pg-3', at, { ...NEW, name: 'pg-9' }),
    ]);
    expect(refusedPrimaries(POLICY.probe, after(stranger), 60_100)).toEqual([]);
  });
});
