// A primary with another system identifier, as after an upgrade: the conditions for its acceptance.
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
  silent,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const NEW: MemberStatus = { scope: 'lab', systemIdentifier: '78' };
const OLD: MemberStatus = { scope: 'lab', systemIdentifier: '77' };

/** Each second from `from` to `to`, both included. */
function each(from: number, to: number, observed: (at: number) => readonly Observation[]): Observation[] {
  return Array.from({ length: to - from + 1 }, (_, index) => observed((from + index) * 1000)).flat();
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
    expect(after(each(20, 49, upgraded)).systemIdentifier).toBe('77');
    const accepted = after(each(20, 50, upgraded));
    expect(accepted).toMatchObject({
      systemIdentifier: '78',
      highestTimeline: 1,
      accepted: {
        kind: 'cluster_identity',
        member: 'pg-1',
        detail: 'system identifier 78 instead of system identifier 77',
      },
    });
    expect(openIn(aTable(POLICY, 51_100, ...before, ...each(20, 51, upgraded)), 'write')).toEqual(['pg-1']);
  });

  test('the new cluster is not compared with facts of the old one', () => {
    const accepted = after(each(20, 50, upgraded));
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
  ])('stays refused when %s', (_, observed, lacks) => {
    const snapshot = after(each(20, 120, observed));
    expect(snapshot.systemIdentifier).toBe('77');
    expect(refusedPrimaries(POLICY.probe, snapshot, 120_100).flatMap((refused) => refused.missing)).toEqual(lacks);
  });

  test('without a past primary, the members with the old identifier must report the new one', () => {
    const replicas = [aList(0, 'pg-1', 'pg-2', 'pg-3'), isReplica('pg-2', 0, OLD)];
    const snapshot = aSnapshot(POLICY, ...replicas, ...each(20, 80, alone));
    expect(refusedPrimaries(POLICY.probe, snapshot, 80_100).flatMap((refused) => refused.missing)).toEqual([
      'pg-2 reported system identifier 77 and does not answer',
    ]);
    const gone = observe(POLICY, snapshot, aList(80_200, aMember('pg-1'), aMember('pg-3')));
    expect(refusedPrimaries(POLICY.probe, gone, 80_300).flatMap((refused) => refused.missing)).toEqual([
      'no known member reported the old identity',
    ]);
    const all = each(20, 51, (at) => [...alone(at), isReplica('pg-2', at, NEW)]);
    expect(aSnapshot(POLICY, ...replicas, ...all).systemIdentifier).toBe('78');
  });

  test('after its acceptance no timeline of the old cluster is known', () => {
    const snapshot = after(each(20, 40, upgraded));
    const [refused] = refusedPrimaries(POLICY.probe, snapshot, 40_100);
    if (refused === undefined) throw new Error('nobody is refused');
    const accepted = withAccepted(snapshot, refused, 'operator', 40_100);
    expect(accepted).toMatchObject({ systemIdentifier: '78', highestTimeline: undefined, highestTimelineBy: [] });
  });

  test('where no member reports an identifier, one that hides its scope has nothing to be accepted for', () => {
    const hides = each(20, 60, (at) => [
      answered({ at, body: { role: 'primary', state: 'running' } }),
      named('pg-1', 'pg-3', at),
    ]);
    const known = [aList(0, 'pg-1', 'pg-3'), isReplica('pg-1', 0, { scope: 'lab' }), isReplica('pg-3', 0)];
    const [refused] = refusedPrimaries(POLICY.probe, aSnapshot(POLICY, ...known, ...hides), 60_100);
    expect(refused).toMatchObject({
      shown: 'no identity',
      missing: ['pg-1 does not report its identity', 'no known member reported the old identity'],
    });
  });

  test('a foreign server at the address of the old primary cannot be accepted', () => {
    const stranger = each(20, 60, (at) => [
      isPrimary('pg-2', at, { scope: 'billing', systemIdentifier: '99' }),
      isPrimary('pg-3', at, { ...NEW, name: 'pg-9' }),
    ]);
    expect(refusedPrimaries(POLICY.probe, after(stranger), 60_100)).toEqual([]);
  });
});
