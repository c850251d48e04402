// G6: what becomes of a pool in which everybody lags is the operator's word, and by default what it always was.
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import type { PoolPolicy } from '../../../src/model/policy.ts';
import {
  aList,
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

/** Two rounds in which the primary is at 200 MB: what each replica has replayed, in MB. */
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

function primary(timeline: number): Observation {
  return isPrimary('pg-1', 1000, { timeline, location: 200 * MB });
}

describe('least_lagging', () => {
  test('opens who lags least, says why, and is capped; the other keeps its sessions', () => {
    const degraded = table({}, ...lagging(150, 100));
    expect(openIn(degraded, 'read')).toEqual(['pg-2']);
    expect(routeOf(degraded, 'read')).toMatchObject({ fallback: undefined, lagging: { maxSessions: 7 } });
    expect(standingIn(degraded, 'read', 'pg-2')).toBe('open least_lagging');
    expect(degraded.pools.get('read')?.standings.get('pg-2')?.why.evidence?.lag?.bytes).toBe(50 * MB);
    expect(standingIn(degraded, 'read', 'pg-3')).toBe('keep lagging');
  });

  test('changes nothing while one is within the bound', () => {
    const healthy = table({}, ...lagging(150, 190));
    expect(openIn(healthy, 'read')).toEqual(['pg-3']);
    expect(routeOf(healthy, 'read')).not.toHaveProperty('lagging');
    expect(standingIn(healthy, 'read', 'pg-2')).toBe('leave lagging lagging');
  });

  test('who differs by less than the bound lags alike: both are open, and neither flaps', () => {
    expect(openIn(table({}, ...lagging(150, 145)), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  describe('a member whose own API says that it is late', () => {
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

    test('its lag is known by our reckoning', () => {
      expect(openIn(table({}, primary(1), ...no, gone), 'read')).toEqual(['pg-2']);
    });

    test('not on the timeline of the primary it is no reader at all', () => {
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

  test('a lag that nobody knows is never the least', () => {
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

  test('nobody on another timeline, and nobody dead', () => {
    const other = isReplica('pg-2', 2000, { timeline: 1, replayed: 150 * MB });
    const promoted = isPrimary('pg-1', 2000, { timeline: 2, location: 200 * MB });
    expect(openIn(table({}, ...lagging(150, 100), promoted, other), 'read')).toEqual([]);
    expect(openIn(table({}, ...lagging(150, 100), refused({ member: 'pg-2', at: 2050 })), 'read')).toEqual(['pg-3']);
  });

  test('comes before the fallback, which is for the loss of the replicas', () => {
    expect(openIn(table({ fallback: FALLBACK }, ...lagging(150, 100)), 'read')).toEqual(['pg-2']);
    const dead = ['pg-2', 'pg-3'].map((member) => refused({ member, at: 2050 }));
    expect(openIn(table({ fallback: FALLBACK }, ...lagging(150, 100), ...dead), 'read')).toEqual(['pg-1']);
  });
});

describe('the other words', () => {
  test('fallback: the primary, as ever', () => {
    const lent = table({ whenAllLagging: 'fallback', fallback: FALLBACK }, ...lagging(150, 100));
    expect(openIn(lent, 'read')).toEqual(['pg-1']);
  });

  test('refuse: nobody, although there is a fallback, and the primary stands in for nobody', () => {
    const closed = table({ whenAllLagging: 'refuse', fallback: FALLBACK }, ...lagging(150, 100));
    expect(routeOf(closed, 'read')).toEqual({ kind: 'closed' });
    expect(standingIn(closed, 'read', 'pg-1')).toBe('keep fallback');
  });

  test('refuse is about lag: dead replicas lead to the fallback', () => {
    const dead = ['pg-2', 'pg-3'].map((member) => refused({ member, at: 2050 }));
    const lent = table({ whenAllLagging: 'refuse', fallback: FALLBACK }, ...dead);
    expect(openIn(lent, 'read')).toEqual(['pg-1']);
  });

  test('without a fallback there is nowhere to go', () => {
    expect(routeOf(table({ whenAllLagging: 'refuse' }, ...lagging(150, 100)), 'read')).toEqual({ kind: 'closed' });
  });
});
