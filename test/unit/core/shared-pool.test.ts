// Scenarios of read pools in the core.
import { describe, expect, test } from 'vitest';
import type { PoolPolicy } from '../../../src/model/policy.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  MB,
  openIn,
  READ_CHECK,
  refused,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const WITH_FALLBACK = aPolicy();
const ALONE = aPolicy({ pools: [aWritePool(), aPool()] });
const LIST = aList(0, 'pg-1', 'pg-2', 'pg-3');
const ROUND = [LIST, isPrimary('pg-1', 0), isReplica('pg-2', 0), isReplica('pg-3', 0)] as const;

function withReads(...pools: readonly PoolPolicy[]) {
  return aPolicy({ pools: [aWritePool(), ...pools] });
}

function says(no: MemberStatus, at: number) {
  return answered({
    member: 'pg-2',
    check: READ_CHECK,
    at,
    status: 503,
    body: { role: 'replica', state: 'running', ...no },
  });
}

/** The primary's current write position. */
function moves(at: number, megabytes: number) {
  return isPrimary('pg-1', at, { location: megabytes * MB });
}

describe('the readers', () => {
  test('every replica, and not the primary', () => {
    expect(openIn(aTable(ALONE, 100, ...ROUND), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test('scenario 16: members with old and new terms of the API together', () => {
    // The parser folds `master` into `primary` before the core. Bodies without name or replication state remain.
    const old = isPrimary('pg-1', 1000, { scope: 'lab' });
    const young = isReplica('pg-2', 1000, {
      scope: 'lab',
      name: 'pg-2',
    });
    const table = aTable(ALONE, 1100, ...ROUND, old, young);
    expect([openIn(table, 'write'), openIn(table, 'read')]).toEqual([['pg-1'], ['pg-2', 'pg-3']]);
  });

  test('the primary stays out of a /read-only pool although its answers would fit', () => {
    const pool = aPool({ name: 'any', check: '/read-only' });
    const yes = answered({ member: 'pg-1', check: '/read-only', at: 10, body: { role: 'primary', state: 'running' } });
    const others = ['pg-2', 'pg-3'].map((member) => isReplica(member, 10, {}, '/read-only'));
    const table = aTable(withReads(pool), 100, ...ROUND, yes, ...others);
    expect(openIn(table, 'any')).toEqual(['pg-2', 'pg-3']);
    expect(standingIn(table, 'any', 'pg-1')).toBe('leave promoted exclusive_elsewhere');
  });

  test('a reader without any answer to /primary stays a reader when its API falls silent', () => {
    const yes = answered({ member: 'pg-2', check: READ_CHECK, at: 10, body: {} });
    const quiet = silent({ member: 'pg-2', at: 20, postgres: 'accepts' });
    const table = aTable(ALONE, 100, LIST, isPrimary('pg-1', 0), isReplica('pg-3', 0), yes, quiet);
    expect(openIn(table, 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test('a member that passes both checks in promotion serves one pool, and as primary the other', () => {
    const both = [isReplica('pg-2', 1000), answered({ member: 'pg-2', at: 1010, body: { role: 'replica' } })];
    const during = aTable(ALONE, 1100, ...ROUND, ...both);
    expect([openIn(during, 'write'), openIn(during, 'read')]).toEqual([['pg-1'], ['pg-2', 'pg-3']]);
    const after = aTable(ALONE, 1300, ...ROUND, ...both, isPrimary('pg-2', 1200, { timeline: 2 }));
    expect(openIn(after, 'write')).toEqual(['pg-2']);
    expect(standingIn(after, 'read', 'pg-2')).toBe('leave promoted exclusive_elsewhere');
  });

  test('replicas on an older timeline than the primary’s do not serve reads', () => {
    const table = aTable(
      ALONE,
      1100,
      ...ROUND,
      isPrimary('pg-1', 1000, { timeline: 2 }),
      isReplica('pg-2', 1000, { timeline: 2 }),
    );
    expect(openIn(table, 'read')).toEqual(['pg-2']);
    expect(standingIn(table, 'read', 'pg-3')).toBe('leave old_timeline other_timeline');
  });
});

describe('scenario 18: hysteresis of lag', () => {
  test('one tick over the limit changes nothing', () => {
    expect(openIn(aTable(ALONE, 1100, ...ROUND, says({}, 1000)), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test('`fall` ticks exclude it as lagging', () => {
    const table = aTable(ALONE, 2100, ...ROUND, says({}, 1000), says({}, 2000));
    expect(openIn(table, 'read')).toEqual(['pg-3']);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave lagging lagging');
  });

  test('rise 2: the first yes afterwards keeps live sessions, the second opens the member', () => {
    const policy = aPolicy({ pools: [aWritePool(), aPool()], probe: { rise: 2 } });
    const up = [...ROUND, isPrimary('pg-1', 1000), isReplica('pg-2', 1000)];
    const out = [...up, says({}, 2000), says({}, 3000)];
    const once = aTable(policy, 4100, ...out, isReplica('pg-2', 4000));
    expect(standingIn(once, 'read', 'pg-2')).toBe('keep rising');
    const twice = aTable(policy, 5100, ...out, isReplica('pg-2', 4000), isReplica('pg-2', 5000));
    expect(standingIn(twice, 'read', 'pg-2')).toBe('open positive');
  });
});

describe('scenario 19: a lag that is no number is never small', () => {
  test('an invalid replayed position excludes the member after `fall` ticks although the API answers yes', () => {
    const ill = [isReplica('pg-2', 1000, { replayed: 'invalid' }), isReplica('pg-2', 2000, { replayed: 'invalid' })];
    const table = aTable(ALONE, 2100, ...ROUND, ...ill);
    expect(openIn(table, 'read')).toEqual(['pg-3']);
  });

  test('a new member with an invalid position never becomes eligible', () => {
    const first = isReplica('pg-2', 0, { replayed: 'invalid' });
    const table = aTable(ALONE, 100, LIST, isPrimary('pg-1', 0), first, isReplica('pg-3', 0));
    expect(openIn(table, 'read')).toEqual(['pg-3']);
  });

  test('without a limit it does not matter', () => {
    const pool = aPool({ check: '/replica' });
    const reads = ['pg-2', 'pg-3'].map((member) => isReplica(member, 0, { replayed: 'invalid' }, '/replica'));
    expect(openIn(aTable(withReads(pool), 100, LIST, isPrimary('pg-1', 0), ...reads), 'read')).toEqual([
      'pg-2',
      'pg-3',
    ]);
  });
});

describe('scenario 20: an isolated replica whose API uses an old position of the leader', () => {
  test('the lag estimate excludes it when the primary has moved away from it', () => {
    const history = [...ROUND, moves(1000, 140), isReplica('pg-2', 1010), moves(2000, 150), isReplica('pg-2', 2010)];
    const table = aTable(ALONE, 2100, ...history, isReplica('pg-3', 2010, { replayed: 149 * MB }));
    expect(openIn(table, 'read')).toEqual(['pg-3']);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave lagging lagging');
  });

  test('one answer is not enough', () => {
    const history = [...ROUND, moves(1000, 110), isReplica('pg-2', 1010), moves(2000, 150), isReplica('pg-2', 2010)];
    expect(openIn(aTable(ALONE, 2100, ...history), 'read')).toContain('pg-2');
  });

  test('exactly the limit is within it', () => {
    const history = [...ROUND, moves(1000, 116), isReplica('pg-2', 1010), moves(2000, 116), isReplica('pg-2', 2010)];
    expect(openIn(aTable(ALONE, 2100, ...history), 'read')).toContain('pg-2');
  });

  test('writes of the primary after the probe of the replica are not lag', () => {
    const history = [...ROUND, isReplica('pg-2', 1000), isReplica('pg-2', 2000), moves(2010, 500)];
    expect(openIn(aTable(ALONE, 2100, ...history), 'read')).toContain('pg-2');
  });

  test('a dead primary is still the reference', () => {
    const history = [
      ...ROUND,
      moves(1000, 140),
      isReplica('pg-2', 1010),
      isReplica('pg-2', 2010),
      refused({ at: 2000 }),
    ];
    expect(openIn(aTable(ALONE, 2100, ...history), 'read')).not.toContain('pg-2');
  });
});

describe('scenario 22: noloadbalance', () => {
  test('excluded at once, as tagged out; eligible again when the tag is removed', () => {
    const tagged = [...ROUND, says({ noloadbalance: true }, 1000)];
    expect(standingIn(aTable(ALONE, 1100, ...tagged), 'read', 'pg-2')).toBe('leave tagged_out tagged_out');
    expect(openIn(aTable(ALONE, 2100, ...tagged, isReplica('pg-2', 2000)), 'read')).toContain('pg-2');
  });
});

describe('scenario 23: a tag filter without a match', () => {
  const check = '/replica?tag_zone=eu';
  const noMatch = ['pg-1', 'pg-2', 'pg-3'].map((member) =>
    answered({ member, check, at: 10, status: 503, body: { role: member === 'pg-1' ? 'primary' : 'replica' } }),
  );
  const zone = (fallback: PoolPolicy['fallback']) => aPool({ name: 'zone', check, fallback });

  test('uses its fallback', () => {
    const table = aTable(withReads(aPool(), zone({ pool: 'read', maxSessions: 5 })), 100, ...ROUND, ...noMatch);
    expect(openIn(table, 'zone')).toEqual(['pg-2', 'pg-3']);
    expect(routeOf(table, 'zone')).toMatchObject({ fallback: { pool: 'read', maxSessions: 5 } });
  });

  test('without a fallback it is closed, and each standing names the filter', () => {
    const table = aTable(withReads(aPool(), zone(undefined)), 100, ...ROUND, ...noMatch);
    expect(routeOf(table, 'zone')).toEqual({ kind: 'closed' });
    expect(table.pools.get('zone')?.standings.get('pg-2')?.why.detail).toBe('no tags; the check requires zone=eu');
  });

  test('without a primary it holds: the state may still change', () => {
    const table = aTable(withReads(aPool(), zone(undefined)), 5100, ...ROUND, ...noMatch);
    expect(routeOf(table, 'zone')).toEqual({ kind: 'hold', cause: 'no_member' });
  });

  test('a chain of fallbacks is followed to its end', () => {
    const gone = [refused({ member: 'pg-2', at: 1000 }), refused({ member: 'pg-3', at: 1000 })];
    const pools = [zone({ pool: 'read', maxSessions: 5 }), aPool({ fallback: { pool: 'write', maxSessions: 9 } })];
    const table = aTable(withReads(...pools), 1100, ...ROUND, ...noMatch, ...gone);
    expect(openIn(table, 'zone')).toEqual(['pg-1']);
    expect(routeOf(table, 'zone')).toMatchObject({ fallback: { pool: 'read', maxSessions: 5 } });
  });
});

describe('scenarios 24, 25: lost replicas', () => {
  const dead = ['pg-2', 'pg-3'].map((member) => refused({ member, at: 1000 }));

  test('one dead: its sessions end and the other takes new ones', () => {
    const table = aTable(WITH_FALLBACK, 1100, ...ROUND, refused({ member: 'pg-2', at: 1000 }));
    expect(openIn(table, 'read')).toEqual(['pg-3']);
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave dead refused');
  });

  test('a time-out after death does not bring it back', () => {
    const table = aTable(WITH_FALLBACK, 2100, ...ROUND, ...dead, silent({ member: 'pg-2', at: 2000 }));
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave dead refused');
  });

  test('all dead, fallback on: the primary within the cap', () => {
    const table = aTable(WITH_FALLBACK, 1100, ...ROUND, ...dead);
    expect(openIn(table, 'read')).toEqual(['pg-1']);
    expect(routeOf(table, 'read')).toMatchObject({ fallback: { pool: 'write', maxSessions: 50 } });
    expect(standingIn(table, 'read', 'pg-1')).toBe('open fallback');
  });

  test('a replica returns: sessions go there, and the primary is only on standby', () => {
    const table = aTable(WITH_FALLBACK, 2100, ...ROUND, ...dead, isReplica('pg-3', 2000));
    expect(openIn(table, 'read')).toEqual(['pg-3']);
    expect(routeOf(table, 'read')).toMatchObject({ fallback: undefined });
    expect(standingIn(table, 'read', 'pg-1')).toBe('leave fallback_over fallback');
  });

  test('fallback off: refused', () => {
    expect(routeOf(aTable(ALONE, 1100, ...ROUND, ...dead), 'read')).toEqual({ kind: 'closed' });
  });

  test('clients wait while one of the members is only silent: it may come back', () => {
    const table = aTable(ALONE, 12_000, ...ROUND, isPrimary('pg-1', 11_900), refused({ member: 'pg-2', at: 11_900 }));
    expect(standingIn(table, 'read', 'pg-3')).toBe('keep no_answer');
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'no_member' });
  });

  test('fallback on but no primary either: clients are held', () => {
    const table = aTable(WITH_FALLBACK, 1100, ...ROUND, ...dead, refused({ at: 1000 }));
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'no_member' });
  });

  test('two primaries are no fallback', () => {
    const table = aTable(WITH_FALLBACK, 1200, ...ROUND, ...dead, isPrimary('pg-2', 1100));
    expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'two_primaries' });
  });
});

describe('scenario 21: a replica that becomes the primary', () => {
  const dead = refused({ at: 1000 });
  const isPromoted = answered({ member: 'pg-2', check: READ_CHECK, at: 1100, status: 503, body: { role: 'primary' } });

  test('with the read check first, its sessions stay: it is about to become the fallback of the pool', () => {
    expect(standingIn(aTable(WITH_FALLBACK, 1150, ...ROUND, dead, isPromoted), 'read', 'pg-2')).toBe('keep wrong_role');
    const proven = isPrimary('pg-2', 1200, { timeline: 2 });
    const table = aTable(WITH_FALLBACK, 1250, ...ROUND, dead, isPromoted, proven);
    expect(standingIn(table, 'read', 'pg-2')).toBe('open fallback');
  });

  test('without a fallback its sessions end, and also if another primary is proven', () => {
    expect(standingIn(aTable(ALONE, 1150, ...ROUND, dead, isPromoted), 'read', 'pg-2')).toBe(
      'leave promoted wrong_role',
    );
    const table = aTable(WITH_FALLBACK, 1150, ...ROUND, isPromoted, isPrimary('pg-1', 1120));
    expect(standingIn(table, 'read', 'pg-2')).toBe('leave promoted wrong_role');
  });
});

describe('silence acts by age', () => {
  const hole = silent({ member: 'pg-2', at: 1000 });

  test.each([
    [9999, 'open positive'],
    [10_000, 'keep no_answer'],
    [14_999, 'keep no_answer'],
    [15_000, 'leave silent no_answer'],
  ])('at %i ms a silent replica is %s', (now, standing) => {
    expect(standingIn(aTable(ALONE, now, ...ROUND, hole), 'read', 'pg-2')).toBe(standing);
  });
});

describe('scenario 27: joining', () => {
  const joined = aList(500, 'pg-1', 'pg-2', 'pg-3', 'pg-4');

  test('a joining member gets sessions after its first yes', () => {
    expect(standingIn(aTable(ALONE, 600, ...ROUND, joined), 'read', 'pg-4')).toBe('keep never_answered');
    expect(openIn(aTable(ALONE, 700, ...ROUND, joined, isReplica('pg-4', 650)), 'read')).toContain('pg-4');
  });

  test('a member without a PostgreSQL address waits for one', () => {
    const noAddress = aList(500, 'pg-1', aMember('pg-2', { postgres: undefined }), 'pg-3');
    const table = aTable(ALONE, 700, ...ROUND, noAddress, isReplica('pg-2', 600));
    expect(standingIn(table, 'read', 'pg-2')).toBe('keep no_postgres_address');
    expect(openIn(table, 'read')).toEqual(['pg-3']);
  });
});

test('scenario 28: a reused address of another cluster leaves as removed', () => {
  const table = aTable(ALONE, 1100, ...ROUND, isReplica('pg-2', 1000, { scope: 'billing' }));
  expect(standingIn(table, 'read', 'pg-2')).toBe('leave removed other_cluster');
  expect(openIn(table, 'read')).toEqual(['pg-3']);
});

describe('a replica that replays nothing, few bytes behind', () => {
  const KB = MB / 1024;
  /** Rounds of a second. pg-2 stands still from the third on. */
  function rounds(count: number, third = 1, isWriting = true) {
    return Array.from({ length: count }, (_, second) => {
      const at = 1000 * (second + 1);
      const written = isWriting ? second * KB : 0;
      return [
        isPrimary('pg-1', at, { location: written }),
        isReplica('pg-2', at, { replayed: Math.min(2 * KB, written) }),
        isReplica('pg-3', at, { replayed: written * third }),
      ];
    }).flat();
  }

  function laterReplicas(from: number, count: number) {
    return Array.from({ length: count }, (_, second) => {
      const at = 1000 * (from + second + 1);
      return [isReplica('pg-2', at, { replayed: 2 * KB }), isReplica('pg-3', at, { replayed: 4 * KB })];
    }).flat();
  }

  test('leaves as lagging after the age of reads, while the others replay', () => {
    const before = aTable(ALONE, 13_500, LIST, ...rounds(13));
    expect(openIn(before, 'read')).toEqual(['pg-2', 'pg-3']);
    const after = aTable(ALONE, 14_500, LIST, ...rounds(14));
    expect(openIn(after, 'read')).toEqual(['pg-3']);
    expect(standingIn(after, 'read', 'pg-2')).toBe('leave lagging lagging');
  });

  test('comes back with its first step', () => {
    const step = isReplica('pg-2', 15_000, { replayed: 5 * KB });
    expect(openIn(aTable(ALONE, 15_500, LIST, ...rounds(14), step), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test.each([
    ['no replica replays', rounds(20, 0), 20_500],
    ['the primary writes nothing', rounds(20, 1, false), 20_500],
    // Their connections to the primary have ended, each a little earlier or later.
    ['the primary is silent', [...rounds(5), ...laterReplicas(5, 12)], 17_500],
  ])('stays while %s', (_, history, now) => {
    expect(openIn(aTable(ALONE, now, LIST, ...history), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test('stays in a pool without a limit of lag', () => {
    const unlimited = withReads(aPool({ check: '/replica' }));
    const history = rounds(20).map((one) => (one.member === 'pg-1' ? one : { ...one, check: '/replica' }));
    expect(openIn(aTable(unlimited, 20_500, LIST, ...history), 'read')).toEqual(['pg-2', 'pg-3']);
  });
});
