// G6: the operator decides about a pool in which every member lags; the default is unchanged.
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import type { PoolPolicy } from '../../../src/model/policy.ts';
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

const FALLBACK = { pool: 'write', maxSessions: 50 };
const FIRST_ROUND = [
  aList(0, 'pg-1', 'pg-2', 'pg-3'),
  isPrimary('pg-1', 0),
  isReplica('pg-2', 0),
  isReplica('pg-3', 0),
] as const;

function policy(pool: Partial<Omit<PoolPolicy, 'check'>> = {}) {
  return aPolicy({ pools: [aWritePool(), aPool({ whenAllLagging: 'least_lagging', maxLaggingSessions: 7, ...pool })] });
}

/** Two rounds with the primary at 200 MB; the arguments are the replayed MB of each replica. */
function lagging(second: number, third: number, from = 1000): readonly Observation[] {
  return [from, from + 1000].flatMap((at) => [
    isPrimary('pg-1', at, { location: 200 * MB }),
    isReplica('pg-2', at, { replayed: second * MB }),
    isReplica('pg-3', at, { replayed: third * MB }),
  ]);
}

function table(pool: Partial<Omit<PoolPolicy, 'check'>>, ...observations: readonly Observation[]) {
  return aTable(policy(pool), 2100, ...FIRST_ROUND, ...observations);
}

/** Its API reports lag, and no timeline. */
function late(member: string, at: number): Observation {
  const body = { role: 'replica', state: 'running', replayed: 100 * MB } as const;
  return answered({ member, check: READ_CHECK, at, status: 503, body });
}

function primary(timeline: number): Observation {
  return isPrimary('pg-1', 1000, { timeline, location: 200 * MB });
}

describe('least_lagging', () => {
  test('opens the least lagging member with a reason and a cap; the other keeps its sessions', () => {
    const degraded = table({}, ...lagging(150, 100));
    expect(openIn(degraded, 'read')).toEqual(['pg-2']);
    expect(routeOf(degraded, 'read')).toMatchObject({ fallback: undefined, lagging: { maxSessions: 7 } });
    expect(standingIn(degraded, 'read', 'pg-2')).toBe('open least_lagging');
    expect(degraded.pools.get('read')?.standings.get('pg-2')?.why.evidence?.lag?.bytes).toBe(50 * MB);
    expect(standingIn(degraded, 'read', 'pg-3')).toBe('keep lagging');
  });

  test('changes nothing while one member is within the limit', () => {
    const healthy = table({}, ...lagging(150, 190));
    expect(openIn(healthy, 'read')).toEqual(['pg-3']);
    expect(routeOf(healthy, 'read')).not.toHaveProperty('lagging');
    expect(standingIn(healthy, 'read', 'pg-2')).toBe('leave lagging lagging');
  });

  test('treats lags that differ by less than the limit as equal: both members are open, and neither flaps', () => {
    expect(openIn(table({}, ...lagging(150, 145)), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  describe('a member whose own API reports lag', () => {
    const no = [1000, 1100].map((at) =>
      answered({
        member: 'pg-2',
        check: READ_CHECK,
        at,
        status: 503,
        body: { role: 'replica', state: 'running', timeline: 1, replayed: 150 * MB },
      }),
    );
    const gone = refused({ member: 'pg-3', at: 1000 });

    test('its lag is known from the estimate', () => {
      expect(openIn(table({}, primary(1), ...no, gone), 'read')).toEqual(['pg-2']);
    });

    test('without the timeline of the primary it is no reader at all', () => {
      expect(openIn(table({}, primary(2), ...no, gone), 'read')).toEqual([]);
    });

    test.each([
      [11_099, ['pg-2']],
      [11_100, []],
    ])('its lag must be fresh: at %i ms open are %j', (now, open) => {
      const hole = silent({ member: 'pg-2', check: READ_CHECK, at: 2000 });
      const degraded = aTable(policy(), now, ...FIRST_ROUND, primary(1), ...no, gone, hole);
      expect(openIn(degraded, 'read')).toEqual(open);
    });
  });

  test('an unknown lag is never the least', () => {
    const no = [1000, 1100].map((at) =>
      answered({ member: 'pg-2', check: READ_CHECK, at, status: 503, body: { role: 'replica', state: 'running' } }),
    );
    const late = lagging(150, 20).filter((one) => one.kind !== 'probe' || one.member !== 'pg-2');
    const known = aTable(policy(), 2100, aList(0, 'pg-1', 'pg-2', 'pg-3'), ...no, ...late);
    expect(openIn(known, 'read')).toEqual(['pg-3']);
  });

  test.each([
    [11_999, ['pg-2']],
    [12_000, []],
  ])('a lag must be fresh: at %i ms open are %j', (now, open) => {
    const observations = [...FIRST_ROUND, ...lagging(150, 100), silent({ member: 'pg-2', at: 3000 })];
    const degraded = aTable(policy(), now, ...observations, isPrimary('pg-1', now - 100, { location: 200 * MB }));
    expect(openIn(degraded, 'read')).toEqual(open);
  });

  test('no member on another timeline, and no dead member', () => {
    const other = isReplica('pg-2', 2000, { timeline: 1, replayed: 150 * MB });
    const promoted = isPrimary('pg-1', 2000, { timeline: 2, location: 200 * MB });
    expect(openIn(table({}, ...lagging(150, 100), promoted, other), 'read')).toEqual([]);
    const dead = table({}, ...lagging(150, 100), refused({ member: 'pg-2', at: 2050 }));
    expect(openIn(dead, 'read')).toEqual(['pg-3']);
    expect(standingIn(dead, 'read', 'pg-2'), 'its sessions do not stay').toBe('leave dead refused');
  });

  test('a member that cannot be reached is not the least', () => {
    const members = aList(500, 'pg-1', aMember('pg-2', { postgres: undefined }), 'pg-3');
    expect(openIn(table({}, members, ...lagging(150, 100)), 'read')).toEqual(['pg-3']);
  });

  test('a lag is unknown before the primary told its position, and known without a timeline', () => {
    const first = [aList(0, 'pg-1', 'pg-2', 'pg-3'), late('pg-2', 0), late('pg-2', 900), late('pg-3', 900)];
    const degraded = aTable(policy(), 2100, ...first, primary(1), late('pg-3', 1100));
    expect(openIn(degraded, 'read')).toEqual(['pg-3']);
  });

  test('has precedence over the fallback, which is for the loss of the replicas', () => {
    expect(openIn(table({ fallback: FALLBACK }, ...lagging(150, 100)), 'read')).toEqual(['pg-2']);
    const dead = ['pg-2', 'pg-3'].map((member) => refused({ member, at: 2050 }));
    expect(openIn(table({ fallback: FALLBACK }, ...lagging(150, 100), ...dead), 'read')).toEqual(['pg-1']);
  });
});

describe('the other values', () => {
  test('fallback: the primary, as before', () => {
    const lent = table({ whenAllLagging: 'fallback', fallback: FALLBACK }, ...lagging(150, 100));
    expect(openIn(lent, 'read')).toEqual(['pg-1']);
  });

  test('refuse: no member, even with a fallback, and the primary takes no new reads', () => {
    const closed = table({ whenAllLagging: 'refuse', fallback: FALLBACK }, ...lagging(150, 100));
    expect(routeOf(closed, 'read')).toEqual({ kind: 'closed' });
    expect(standingIn(closed, 'read', 'pg-1')).toBe('keep fallback');
  });

  test('refuse is about lag: with dead replicas the pool uses its fallback', () => {
    const dead = ['pg-2', 'pg-3'].map((member) => refused({ member, at: 2050 }));
    const lent = table({ whenAllLagging: 'refuse', fallback: FALLBACK }, ...dead);
    expect(openIn(lent, 'read')).toEqual(['pg-1']);
  });

  test('without a fallback the pool has no member', () => {
    expect(routeOf(table({ whenAllLagging: 'refuse' }, ...lagging(150, 100)), 'read')).toEqual({ kind: 'closed' });
  });
});
