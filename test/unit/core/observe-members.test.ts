import { describe, expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
import { newRecord } from '../../../src/core/snapshot.ts';
import type { MemberRecord, Snapshot } from '../../../src/core/snapshot.ts';
import { aList, aMember, aPolicy, aSnapshot, isPrimary, isReplica, silent } from '../../support/values/builders.ts';

const POLICY = aPolicy();

function recordOf(snapshot: Snapshot, member: string): MemberRecord {
  const record = snapshot.members.get(member);
  if (record === undefined) throw new Error(`${member} is not known`);
  return record;
}

describe('the member list', () => {
  const before = aSnapshot(POLICY, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 100), isReplica('pg-2', 100));

  test('evidence of a remaining member is kept', () => {
    expect(observe(POLICY, before, aList(500, 'pg-1', 'pg-2')).members).toEqual(before.members);
  });

  test.each([
    ['PostgreSQL', aMember('pg-1', { postgres: { host: '10.0.0.9', port: 5432 } })],
    ['PostgreSQL port', aMember('pg-1', { postgres: { host: 'pg-1', port: 5433 } })],
  ])('another %s address is another server: its evidence is dropped', (_, moved) => {
    const after = observe(POLICY, before, aList(500, moved, 'pg-2'));
    expect(recordOf(after, 'pg-1')).toEqual(newRecord(moved));
    expect(recordOf(after, 'pg-2')).toEqual(recordOf(before, 'pg-2'));
  });

  test('another API address drops the evidence, but not the time of the last answer: PostgreSQL did not move', () => {
    const moved = aMember('pg-1', { api: { url: 'http://10.0.0.9:8008', address: { host: '10.0.0.9', port: 8008 } } });
    const after = observe(POLICY, before, aList(500, moved, 'pg-2'));
    expect(recordOf(after, 'pg-1')).toEqual({ ...newRecord(moved), answeredAt: 100 });
    const write = (now: number) => decideRoutes(POLICY, after, now).pools.get('write');
    expect(write(600)?.route.kind).toBe('hold');
    expect(write(600)?.standings.get('pg-1')).toMatchObject({ kind: 'keep', why: { code: 'never_answered' } });
  });

  test('a member at a new API address that stays silent keeps its sessions for the silence grace', () => {
    const moved = aMember('pg-1', { api: { url: 'http://10.0.0.9:8008', address: { host: '10.0.0.9', port: 8008 } } });
    const said = [aList(0, 'pg-1'), isPrimary('pg-1', 100), aList(500, moved), silent({ member: 'pg-1', at: 600 })];
    const after = aSnapshot(POLICY, ...said);
    const standing = (now: number) => decideRoutes(POLICY, after, now).pools.get('write')?.standings.get('pg-1')?.kind;
    expect([standing(15_099), standing(15_100)]).toEqual(['keep', 'leave']);
  });

  test('scenario 27: an omitted member that answers stays, a silent one leaves', () => {
    expect([...observe(POLICY, before, aList(15_099, 'pg-2')).members.keys()]).toEqual(['pg-2', 'pg-1']);
    expect([...observe(POLICY, before, aList(15_100, 'pg-2')).members.keys()]).toEqual(['pg-2']);
  });

  test('the highest timeline outlives the member that proved it', () => {
    expect(observe(POLICY, before, aList(60_000, 'pg-2')).highestTimeline).toBe(1);
  });
});
