import { describe, expect, test } from 'vitest';
import { observe } from '../../../src/core/observe.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import type { MemberRecord, Snapshot } from '../../../src/core/snapshot.ts';
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
  openIn,
  poolOf,
  silent,
  standingIn,
  READ_CHECK,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();

function recordOf(snapshot: Snapshot, member: string): MemberRecord {
  const record = snapshot.members.get(member);
  if (record === undefined) throw new Error(`${member} is not known`);
  return record;
}

describe('identity', () => {
  const US: MemberStatus = { scope: 'lab', name: 'pg-1', systemIdentifier: '7710475087788450636' };

  test('scope and system identifier are pinned by the first answer that carries them', () => {
    const start = observe(POLICY, emptySnapshot(undefined), aList(0, 'pg-1'));
    const snapshot = observe(POLICY, start, isPrimary('pg-1', 100, US));
    expect(snapshot).toMatchObject({ scope: 'lab', systemIdentifier: '7710475087788450636' });
  });

  test('the scope of a member list is pinned, and a configured scope stays', () => {
    const list = { ...aList(0, 'pg-1'), scope: 'other' };
    expect(observe(POLICY, emptySnapshot(undefined), list).scope).toBe('other');
    expect(observe(POLICY, emptySnapshot('lab'), list).scope).toBe('lab');
  });

  test.each<[string, MemberStatus, string, boolean]>([
    ['another scope', { ...US, scope: 'billing' }, 'scope billing, expected lab', false],
    ['another member', { ...US, name: 'pg-2' }, 'it is the member pg-2', false],
    ['another system', { ...US, systemIdentifier: '42' }, 'system identifier 42, expected 7710475087788450636', true],
  ])('an answer of %s has no effect except the identity error', (_, body, detail, isOtherSystem) => {
    const before = aSnapshot(POLICY, aList(0, 'pg-1'), isReplica('pg-1', 100, US));
    const after = observe(POLICY, before, isPrimary('pg-1', 1100, { ...body, timeline: 9 }));
    const { selfReport, ...known } = recordOf(before, 'pg-1');
    expect(recordOf(after, 'pg-1')).toMatchObject({
      ...known,
      // The server of another system did not give them.
      checks: isOtherSystem ? new Map() : known.checks,
      probedAt: 1100,
      mismatch: { at: 1100, detail, isOtherSystem },
    });
    expect(recordOf(after, 'pg-1').selfReport?.at, 'what it says of itself is kept where it is its own').toBe(
      body.systemIdentifier === '42' ? 1100 : selfReport?.at,
    );
    expect(after.highestTimeline).toBeUndefined();
  });

  test('a valid answer clears the mismatch, a failure does not', () => {
    const other = isPrimary('pg-1', 200, { scope: 'billing' });
    const silentAfter = aSnapshot(POLICY, aList(0, 'pg-1'), other, silent({ at: 300 }));
    expect(recordOf(silentAfter, 'pg-1').mismatch).toBeDefined();
    const proper = observe(POLICY, silentAfter, isPrimary('pg-1', 400));
    expect(recordOf(proper, 'pg-1').mismatch).toBeUndefined();
  });

  test('an answer without identity counts if the member never reported one', () => {
    const others = isPrimary('pg-2', 100, { ...US, name: 'pg-2' });
    const snapshot = aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), others, isPrimary('pg-1', 200));
    expect(recordOf(snapshot, 'pg-1').answeredAt).toBe(200);
  });

  test.each<[string, MemberStatus]>([
    ['its scope', { scope: 'lab' }],
    ['its name', { name: 'pg-1' }],
    ['its system identifier', { systemIdentifier: '7' }],
  ])('after a member showed %s, an answer without identity is no evidence, also at another address', (_, own) => {
    const yes = answered({ at: 1100, body: { state: 'running' } });
    const before = aSnapshot(POLICY, aList(0, 'pg-1'), isReplica('pg-1', 100, own));
    const mismatch = { at: 1100, detail: 'it no longer reports its identity', isOtherSystem: false };
    expect(recordOf(observe(POLICY, before, yes), 'pg-1')).toMatchObject({ answeredAt: 100, mismatch });
    const moved = observe(POLICY, before, aList(1000, aMember('pg-1', { postgres: { host: 'new', port: 5432 } })));
    expect(recordOf(observe(POLICY, moved, yes), 'pg-1')).toMatchObject({ answeredAt: undefined, mismatch });
    const fewer = observe(POLICY, before, isReplica('pg-1', 1100, { scope: 'lab' }));
    expect(recordOf(fewer, 'pg-1'), 'a part of its identity is enough').toMatchObject({ answeredAt: 1100 });
  });

  test('a member that nobody but a foreign server has answered for says so, and not that it never answered', () => {
    const table = aTable(POLICY, 200, aList(0, 'pg-1'), isPrimary('pg-1', 100, { scope: 'billing' }));
    const standing = poolOf(table, 'write').standings.get('pg-1');
    expect(standing).toMatchObject({
      kind: 'leave',
      why: { code: 'other_cluster', detail: 'scope billing, expected lab' },
    });
  });

  test('a page that answers 200 at the address of a replica is no primary beside the real one', () => {
    const known = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0, US), isReplica('pg-2', 0, { ...US, name: 'pg-2' })];
    const page = answered({ member: 'pg-2', at: 1000, body: {} });
    const table = aTable(POLICY, 1100, ...known, isPrimary('pg-1', 1000, US), page);
    expect(openIn(table, 'write')).toEqual(['pg-1']);
    expect(openIn(aTable(POLICY, 6000, ...known, page), 'write')).toEqual([]);
  });
});

describe('another system identifier', () => {
  const US: MemberStatus = { scope: 'lab', name: 'pg-1', systemIdentifier: '7' };
  const ROUND = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0, US), isReplica('pg-2', 0)] as const;

  function afterAnswer(body: MemberStatus): string {
    return standingIn(aTable(POLICY, 1100, ...ROUND, isPrimary('pg-1', 1000, body)), 'write', 'pg-1');
  }

  test('G2, G3: is negative evidence in a pool of one member, whatever else differs', () => {
    expect(afterAnswer({ ...US, systemIdentifier: '8' })).toBe('leave removed other_cluster');
    expect(afterAnswer({ ...US, systemIdentifier: '8', scope: 'billing' })).toBe('leave removed other_cluster');
    expect(afterAnswer({ ...US, systemIdentifier: '8', name: 'pg-9' })).toBe('leave removed other_cluster');
  });

  test('outweighs a no that leaves live sessions to the server', () => {
    const stops = isPrimary('pg-1', 1000, { ...US, state: 'stopping' });
    const other = isPrimary('pg-1', 2000, { ...US, systemIdentifier: '8' });
    expect(standingIn(aTable(POLICY, 2100, ...ROUND, stops, other), 'write', 'pg-1')).toBe(
      'leave removed other_cluster',
    );
  });

  test('holds while nothing answers, until the member answers as itself', () => {
    const other = isPrimary('pg-1', 1000, { ...US, systemIdentifier: '8' });
    const later = silent({ at: 2000, postgres: 'accepts' });
    expect(standingIn(aTable(POLICY, 2100, ...ROUND, other, later), 'write', 'pg-1')).toBe(
      'leave removed other_cluster',
    );
    expect(standingIn(aTable(POLICY, 3100, ...ROUND, other, isPrimary('pg-1', 3000, US)), 'write', 'pg-1')).toBe(
      'open positive',
    );
  });

  test('G2: the yes from before it proves nothing: the member must pass the check of the pool again', () => {
    const other = isPrimary('pg-1', 1000, { ...US, systemIdentifier: '8' });
    const itself = answered({ member: 'pg-1', check: READ_CHECK, at: 1500, status: 503, body: US });
    const history = [...ROUND, other, itself];
    expect(standingIn(aTable(POLICY, 1600, ...history), 'write', 'pg-1')).toBe('keep never_answered');
    const passed = aTable(POLICY, 1800, ...history, isPrimary('pg-1', 1700, US));
    expect(standingIn(passed, 'write', 'pg-1')).toBe('open positive');
  });

  test.each<[string, MemberStatus]>([
    ['another scope', { ...US, scope: 'billing' }],
    ['another name', { ...US, name: 'pg-9' }],
    ['no identity', {}],
  ])('%s is no evidence: live sessions stay', (_, body) => {
    expect(afterAnswer(body)).toBe('keep other_cluster');
  });
});
