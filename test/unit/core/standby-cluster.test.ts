// The write pool of a standby cluster, and a pool on its leader.
import { describe, expect, test } from 'vitest';
import {
  aList,
  answered,
  aPolicy,
  aTable,
  aWritePool,
  isPrimary,
  openIn,
  routeOf,
  standingIn,
} from '../../support/values/builders.ts';

const LIST = aList(0, 'pg-1', 'pg-2');

describe('scenario 15: a standby cluster', () => {
  const standbyLeader = answered({ status: 503, body: { role: 'standby_leader', state: 'running', timeline: 1 } });
  const pools = [aWritePool(), aWritePool({ name: 'standby', check: '/standby-leader' })];
  const policy = aPolicy({ pools });
  const yes = answered({ check: '/standby-leader', at: 10, body: { role: 'standby_leader', state: 'running' } });
  const replica = answered({ member: 'pg-2', check: '/standby-leader', status: 503, body: { role: 'replica' } });

  test('write clients are refused, a pool on /standby-leader works', () => {
    const table = aTable(policy, 100, LIST, standbyLeader, yes, replica);
    expect(routeOf(table, 'write')).toEqual({ kind: 'closed' });
    expect(openIn(table, 'standby')).toEqual(['pg-1']);
  });

  test('a standby leader is judged by its own timeline, and not by that of a primary before', () => {
    const led = { role: 'standby_leader', state: 'running', timeline: 1 } as const;
    const known = answered({ check: '/standby-leader', at: 10, body: led });
    expect(openIn(aTable(policy, 100, LIST, standbyLeader, known, replica), 'standby')).toEqual(['pg-1']);
    const before = isPrimary('pg-2', 0, { timeline: 5 });
    expect(openIn(aTable(policy, 100, LIST, before, standbyLeader, known, replica), 'standby')).toEqual(['pg-1']);
    const newer = answered({ member: 'pg-2', check: '/standby-leader', at: 10, body: { ...led, timeline: 2 } });
    const table = aTable(policy, 100, LIST, standbyLeader, known, newer);
    expect(openIn(table, 'standby')).toEqual(['pg-2']);
    expect(standingIn(table, 'standby', 'pg-1')).toBe('leave demoted superseded');
  });

  test('clients of a pool on /standby-leader wait for the next one', () => {
    const no = answered({ check: '/standby-leader', at: 10, status: 503, body: { role: 'replica' } });
    expect(routeOf(aTable(policy, 100, LIST, standbyLeader, no, replica), 'standby')).toEqual({
      kind: 'hold',
      cause: 'no_member',
    });
  });

  test('clients of a pool on /leader wait, whatever the role of the next leader', () => {
    const leaders = aPolicy({ pools: [aWritePool({ check: '/leader' })] });
    const stopping = answered({ check: '/leader', body: { role: 'standby_leader', state: 'stopping' } });
    expect(routeOf(aTable(leaders, 100, aList(0, 'pg-1'), stopping), 'write')).toEqual({
      kind: 'hold',
      cause: 'no_member',
    });
  });

  test('after the promotion the write pool opens by itself and the standby pool closes its sessions', () => {
    const table = aTable(policy, 1100, LIST, standbyLeader, yes, replica, isPrimary('pg-1', 1000, { timeline: 2 }));
    expect(openIn(table, 'write')).toEqual(['pg-1']);
    expect(standingIn(table, 'standby', 'pg-1')).toBe('leave demoted wrong_role');
  });
});
