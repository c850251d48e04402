// The effect of tags on a member's share in a pool, from bodies to the table.
import { describe, expect, test } from 'vitest';
import { describeStanding } from '../../../src/core/describe.ts';
import type { Target } from '../../../src/core/routing-table.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  poolOf,
} from '../../support/values/builders.ts';

function tags(entries: Readonly<Record<string, string>>) {
  return { tags: new Map(Object.entries(entries)) };
}

/** The read pool of pg-1 (primary), pg-2 and pg-3 with these tags. */
function readPool(
  pool: Parameters<typeof aPool>[0],
  second: Readonly<Record<string, string>>,
  third: Readonly<Record<string, string>> | undefined,
  zone?: string,
) {
  const policy = { ...aPolicy({ pools: [aWritePool(), aPool(pool)] }), zone };
  const table = aTable(
    policy,
    100,
    aList(0, 'pg-1', 'pg-2', 'pg-3'),
    isPrimary('pg-1', 0),
    isReplica('pg-2', 0, tags(second)),
    isReplica('pg-3', 0, third === undefined ? {} : tags(third)),
  );
  return poolOf(table, 'read');
}

function targets(decision: ReturnType<typeof readPool>): readonly Target[] {
  return decision.route.kind === 'open' ? decision.route.targets : [];
}

describe('weight', () => {
  test.each([
    ['2', 2],
    ['0.5', 0.5],
    ['0.001', 0.001],
    ['1000000', 1_000_000],
    ['1000', 1000],
  ])('tag %s gives the weight %d', (written, weight) => {
    const read = readPool({ weightTag: 'lb' }, { lb: written }, {});
    expect(targets(read).map((target) => target.weight)).toEqual([weight, undefined]);
    expect(read.standings.get('pg-2')?.why.code).toBe('positive');
  });

  test.each(['0', '-1', 'heavy', 'true', '1e3', '', '99999999', 'none', '0.0009', '1000000.1'])(
    'tag %j is no weight, and the table reports it',
    (written) => {
      const read = readPool({ weightTag: 'lb' }, { lb: written }, {});
      expect(targets(read).map((target) => target.weight)).toEqual([undefined, undefined]);
      const standing = read.standings.get('pg-2');
      if (standing === undefined) throw new Error('pg-2 has no standing');
      expect(describeStanding(standing, 100)).toContain(
        `invalid weight, counted as 1 (valid: 0.001 to 1000000): tag lb is ${written}; answered 200`,
      );
    },
  );

  test('without the option, or without known tags, no member has a weight', () => {
    expect(targets(readPool({}, { lb: '2' }, undefined)).map(({ weight }) => weight)).toEqual([undefined, undefined]);
    expect(targets(readPool({ weightTag: 'lb' }, {}, undefined)).map(({ weight }) => weight)).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('zone', () => {
  test('members of other zones are far, and stay open', () => {
    const read = readPool({ zoneTag: 'az' }, { az: 'a' }, { az: 'b' }, 'a');
    expect(targets(read).map(({ member, isFar }) => [member, isFar])).toEqual([
      ['pg-2', undefined],
      ['pg-3', true],
    ]);
    expect(read.standings.get('pg-3')?.kind).toBe('open');
  });

  test('a member without a zone is far', () => {
    const read = readPool({ zoneTag: 'az' }, { az: 'a' }, undefined, 'a');
    expect(targets(read).map(({ isFar }) => isFar)).toEqual([undefined, true]);
  });

  test('without a zone of our own no member is far', () => {
    expect(targets(readPool({ zoneTag: 'az' }, { az: 'a' }, {})).map(({ isFar }) => isFar)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a member that reports nothing has no weight, and is far', () => {
    const policy = {
      ...aPolicy({ pools: [aWritePool(), aPool({ check: '/replica', zoneTag: 'az', weightTag: 'lb' })] }),
      zone: 'a',
    };
    const quiet = [
      answered({ member: 'pg-2', status: 503, body: undefined }),
      answered({ member: 'pg-2', check: '/replica', body: undefined }),
    ];
    const read = poolOf(aTable(policy, 100, aList(0, 'pg-2'), ...quiet), 'read');
    expect(targets(read)).toMatchObject([{ member: 'pg-2', isFar: true }]);
    expect(targets(read)[0]?.weight).toBeUndefined();
  });

  test('without the option no member is far', () => {
    expect(targets(readPool({}, { az: 'a' }, { az: 'b' }, 'a')).map(({ isFar }) => isFar)).toEqual([
      undefined,
      undefined,
    ]);
  });
});
