// How old the data of a replica is, by positions alone.
import { describe, expect, test } from 'vitest';
import { isStale, nextTrail, stalenessMs } from '../../../src/core/staleness.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { PoolPolicy } from '../../../src/model/policy.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aSnapshot,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  READ_CHECK,
  refused,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const LIST = aList(0, 'pg-1', 'pg-2', 'pg-3');

function limited(overrides: Partial<Omit<PoolPolicy, 'check'>> = {}) {
  return aPolicy({ pools: [aWritePool(), aPool({ maxStalenessMs: 5000, ...overrides })] });
}

/** The primary has written so much. */
function wrote(at: number, location: number, timeline = 1) {
  return isPrimary('pg-1', at, { location, timeline });
}

function replayed(member: string, at: number, bytes: number, timeline = 1) {
  return isReplica(member, at, { replayed: bytes, timeline });
}

/** An answer of each member in each second. The primary writes 100 bytes in each, and pg-2 replays none of them. */
function seconds(from: number, to: number): readonly Observation[] {
  return Array.from({ length: to - from + 1 }, (_, i) => {
    const at = (from + i) * 1000;
    const written = 1000 + 100 * (from + i);
    return [wrote(at, written), replayed('pg-2', at + 10, 1000), replayed('pg-3', at + 20, written)];
  }).flat();
}

function staleness(member: string, ...history: readonly Observation[]) {
  const snapshot = aSnapshot(limited(), LIST, ...history);
  const record = snapshot.members.get(member);
  return record && stalenessMs(snapshot, record);
}

describe('the staleness of a replica', () => {
  test.each<[string, number | undefined, readonly Observation[]]>([
    ['is the age of the oldest position that it has not replayed', 2000, seconds(0, 3)],
    ['is 0 while it has replayed all that was there', 0, [wrote(0, 1000), replayed('pg-2', 10, 1000)]],
    [
      'is 0 in a quiet cluster, however long',
      0,
      [wrote(0, 900), wrote(86_400_000, 900), replayed('pg-2', 86_400_010, 900)],
    ],
    [
      'does not count what came after its answer',
      0,
      [replayed('pg-2', 10, 1000), wrote(1000, 1100), wrote(2000, 1200)],
    ],
    ['stands still while the primary is silent', 2000, [...seconds(0, 3), replayed('pg-2', 9000, 1000)]],
    ['ends with the replay', 0, [...seconds(0, 3), replayed('pg-2', 4000, 1300)]],
    ['is that of the rest after a part of the replay', 1000, [...seconds(0, 4), replayed('pg-2', 4100, 1250)]],
    ['is unknown without a primary', undefined, [replayed('pg-2', 10, 1000)]],
    [
      'is unknown without a position of its own',
      undefined,
      [wrote(0, 1000), isReplica('pg-2', 10, { replayed: 'invalid' })],
    ],
    [
      'starts anew on the timeline of the next primary',
      0,
      [...seconds(0, 9), isPrimary('pg-3', 10_000, { timeline: 2, location: 5000 })],
    ],
    [
      'counts positions on that timeline',
      2000,
      [
        ...seconds(0, 9),
        ...[10, 11, 12, 13].map((at) => isPrimary('pg-3', at * 1000, { timeline: 2, location: 5000 + at })),
        replayed('pg-2', 13_500, 5010, 2),
      ],
    ],
    [
      'hears no former primary that goes on',
      2000,
      [10, 11, 12, 13].flatMap((at) => [
        isPrimary('pg-3', at * 1000, { timeline: 2, location: 5000 + at }),
        wrote(at * 1000 + 10, 9000 + at),
        replayed('pg-2', at * 1000 + 500, 5010, 2),
      ]),
    ],
    [
      'forgets positions that a crash of the primary has taken away',
      0,
      [...seconds(0, 9), wrote(10_000, 1000), replayed('pg-2', 10_100, 1000)],
    ],
  ])('%s', (_, ms, history) => {
    expect(staleness('pg-2', ...history)).toBe(ms);
  });

  test('the end of a page accuses nobody: it may be the middle of a record', () => {
    const open = [8192, 16_384].flatMap((end, i) => [
      wrote(1000 + 20_000 * i, end),
      replayed('pg-2', 20_000 * (i + 1), 8000),
    ]);
    expect(staleness('pg-2', wrote(0, 8000), ...open)).toBe(0);
    expect(
      staleness(
        'pg-2',
        wrote(0, 8000),
        ...open,
        wrote(41_000, 16_392),
        wrote(44_000, 16_392),
        replayed('pg-2', 44_000, 8000),
      ),
    ).toBe(3000);
  });

  test('of two primaries on one timeline it counts the positions of one', () => {
    const two = [wrote(0, 1000), wrote(1000, 1100), isPrimary('pg-3', 5000, { location: 1200 })];
    expect(staleness('pg-2', ...two, replayed('pg-2', 5010, 1050))).toBe(0);
  });

  test('an answer without a position, or with the same one, adds no mark', () => {
    const two = [wrote(0, 1000), isPrimary('pg-3', 1000, { location: 1200 })];
    const { trail } = aSnapshot(limited(), LIST, ...two);
    expect(trail).toEqual({ member: 'pg-3', timeline: 1, marks: [{ at: 1000, bytes: 1200 }] });
    const news = [
      answered({ at: 2000, body: { role: 'primary', state: 'running', timeline: 1 } }),
      isPrimary('pg-3', 3000, { location: 1200 }),
    ];
    expect(aSnapshot(limited(), LIST, ...two, ...news).trail).toEqual(trail);
  });

  test('an answer of the replica without a position changes nothing', () => {
    const body = { role: 'replica', state: 'running', timeline: 1 } as const;
    const news = [wrote(0, 1000), replayed('pg-2', 10, 1000), wrote(1000, 1100)];
    const mute = answered({ member: 'pg-2', check: READ_CHECK, at: 2000, body });
    expect(aSnapshot(limited(), LIST, ...news, mute).members.get('pg-2')?.missing).toBeUndefined();
  });

  test('without a position of the primary no replica is stale, nor at the very instant of what it lacks', () => {
    const snapshot = aSnapshot(limited(), LIST, ...seconds(0, 7));
    const record = snapshot.members.get('pg-2');
    if (record === undefined) throw new Error('pg-2 is listed');
    const pool = aPool({ maxStalenessMs: 5000 });
    const primary = snapshot.members.get('pg-1')?.positions ?? [];
    expect([isStale(pool, snapshot, record, primary, 2), isStale(pool, snapshot, record, [], 2)]).toEqual([
      true,
      false,
    ]);
    const positions = [7010, 1000].map((at) => ({ at, kind: 'replayed', bytes: 1000 }) as const);
    expect(isStale(pool, snapshot, { ...record, positions }, primary, 1)).toBe(true);
    expect(isStale(pool, snapshot, { ...record, positions }, primary, 2)).toBe(false);
  });

  test('a primary has none', () => {
    expect(staleness('pg-1', ...seconds(0, 3))).toBeUndefined();
  });
});

describe('a pool with max_staleness', () => {
  test('excludes a replica over the limit, and takes it back when it has replayed', () => {
    expect(openIn(aTable(limited(), 6100, LIST, ...seconds(0, 6)), 'read')).toEqual(['pg-2', 'pg-3']);
    const late = [LIST, ...seconds(0, 7)];
    expect(openIn(aTable(limited(), 7100, ...late), 'read')).toEqual(['pg-3']);
    expect(standingIn(aTable(limited(), 7100, ...late), 'read', 'pg-2')).toBe('leave lagging stale');
    expect(openIn(aTable(limited(), 7600, ...late, replayed('pg-2', 7500, 1700)), 'read')).toEqual(['pg-2', 'pg-3']);
  });

  test('without it data of any age will do', () => {
    expect(openIn(aTable(limited({ maxStalenessMs: undefined }), 9100, LIST, ...seconds(0, 9)), 'read')).toContain(
      'pg-2',
    );
  });

  test('one answer is not enough: the machine of the replica may just have woken up', () => {
    const awake = [...seconds(0, 1), ...[2, 3, 4, 5, 6, 7, 8].map((at) => wrote(at * 1000, 2000 + at))];
    const once = [LIST, ...awake, replayed('pg-2', 8100, 1100), replayed('pg-3', 8100, 2008)];
    expect(openIn(aTable(limited(), 8200, ...once), 'read')).toEqual(['pg-2', 'pg-3']);
    const twice = [...once, wrote(9000, 2009), replayed('pg-2', 9100, 1100)];
    expect(openIn(aTable(limited(), 9200, ...twice), 'read')).toEqual(['pg-3']);
  });

  test('the end of the primary makes no replica stale', () => {
    const dead = refused({ at: 8000 });
    const before = [wrote(0, 1000), replayed('pg-3', 10, 1000), wrote(7000, 1100), replayed('pg-2', 7100, 1000), dead];
    const after = [29_000, 30_000].map((at) => replayed('pg-2', at, 1000));
    const table = aTable(limited(), 30_100, LIST, ...before, ...after);
    expect(openIn(table, 'read')).toContain('pg-2');
  });

  test('a silent primary takes no stale replica back', () => {
    const quiet = [8, 9, 10].flatMap((at) => [silent({ at: at * 1000 }), replayed('pg-2', at * 1000 + 10, 1000)]);
    expect(openIn(aTable(limited(), 10_100, LIST, ...seconds(0, 7), ...quiet), 'read')).toEqual(['pg-3']);
  });

  test('when every replica is stale, the policy for lag applies', () => {
    const fallback = { pool: 'write', maxSessions: 5 };
    const both = Array.from({ length: 9 }, (_, i) => {
      const at = i * 1000;
      return [
        wrote(at, 1000 + 100 * i),
        replayed('pg-2', at + 10, 1000),
        replayed('pg-3', at + 20, i < 3 ? 1000 + 100 * i : 1200),
      ];
    }).flat();
    const tableOf = (overrides: Partial<Omit<PoolPolicy, 'check'>>) =>
      aTable(limited({ fallback, maxStalenessMs: 3000, ...overrides }), 8100, LIST, ...both);
    expect(openIn(tableOf({}), 'read')).toEqual(['pg-1']);
    expect(routeOf(tableOf({ whenAllLagging: 'refuse' }), 'read')).toEqual({ kind: 'closed' });
    const least = tableOf({ whenAllLagging: 'least_lagging' });
    expect(openIn(least, 'read')).toEqual(['pg-3']);
    expect(routeOf(least, 'read')).toMatchObject({ lagging: { maxSessions: 100 } });
    expect(standingIn(least, 'read', 'pg-2')).toBe('keep stale');
  });
});

test('old marks are few, and dense where a limit needs them', () => {
  const [policy, long] = [limited(), limited({ maxStalenessMs: 36_000_000 })];
  const after = (of: typeof policy, seconds: number) => {
    let snapshot = aSnapshot(of, LIST, wrote(0, 1000));
    for (let second = 1; second < seconds; second += 1) {
      const at = second * 1000;
      const record = snapshot.members.get('pg-1');
      const position = { at, kind: 'location', bytes: 1001 + 8 * second, timeline: 1 } as const;
      snapshot = { ...snapshot, trail: record && nextTrail(of, snapshot, { ...record, positions: [position] }, at) };
      if ((snapshot.trail?.marks.length ?? 0) >= 1000) expect.fail(`marks without a limit at ${at}`);
    }
    return snapshot.trail?.marks ?? [];
  };
  const marks = after(policy, 7200);
  expect(marks.length).toBeLessThan(150);
  expect(marks.slice(0, 60).map(({ at }) => at)).toEqual(Array.from({ length: 60 }, (_, i) => 7_199_000 - 1000 * i));
  expect(marks.at(-1)?.at).toBe(0);
  for (const [index, { at }] of marks.entries()) {
    const newer = marks[index - 1]?.at ?? at;
    expect(newer - at).toBeLessThanOrEqual(Math.max(1000, (7_199_000 - at) / 4));
  }
  const gaps = after(long, 1800)
    .slice(1, -1)
    .map(({ at }, i, all) => (i === 0 ? 0 : (all[i - 1]?.at ?? 0) - at));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(10_000);
});

test('two primaries on one timeline at one instant leave the same trail, in whatever order they are heard', () => {
  const [first, second] = [wrote(0, 1000), { ...wrote(0, 1000), member: 'pg-2' }];
  const [one, other] = [aSnapshot(limited(), LIST, first, second), aSnapshot(limited(), LIST, second, first)];
  expect(one.trail).toEqual(other.trail);
  expect(one.trail?.member).toBe('pg-1');
});
