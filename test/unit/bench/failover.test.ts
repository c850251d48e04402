// The judgement of the failover benchmark: which attempts are failures, and when Pointsman misses a limit.
import { describe, expect, it, test } from 'vitest';
import { count, NOTHING, type SceneFacts } from '../../bench/failover/judgement.ts';
import { readOptions } from '../../bench/failover/options.ts';
import { missedBars, resultOf, type Rounds } from '../../bench/failover/results.ts';
import { table } from '../../bench/failover/table.ts';
import type { Attempt } from '../../support/applications/connect-load.ts';

const [OLD, NEW, OTHER] = ['127.0.0.11:5432', '127.0.0.12:5432', '127.0.0.13:5432'];
const FACTS: SceneFacts = { faultAtMs: 1000, before: OLD, after: NEW, changedAtMs: 2000 };

function anAttempt(parts: Partial<Attempt>): Attempt {
  const nothing = { server: undefined, rowId: undefined, error: undefined, connectError: undefined };
  return { startedAtMs: 1500, endedAtMs: 1600, ...nothing, ...parts };
}

describe('one attempt', () => {
  test.each<[string, Partial<Attempt>, Partial<typeof NOTHING>]>([
    ['a write on the new primary', { server: NEW, endedAtMs: 2100 }, { attempts: 1 }],
    ['no session', { error: 'ECONNREFUSED', connectError: 'ECONNREFUSED' }, { attempts: 1, failedConnects: 1 }],
    ['a read-only server', { error: '25006 cannot execute' }, { attempts: 1, readOnlyErrors: 1 }],
    ['a session lost in the statement', { error: 'ECONNRESET' }, { attempts: 1, failedStatements: 1 }],
    ['begun before the fault, and cut by it', { startedAtMs: 999, error: 'ECONNRESET' }, { cutInFlight: 1 }],
    ['taken by the old primary before the change', { server: OLD, endedAtMs: 2000 }, { attempts: 1 }],
    ['taken by the old primary after it', { server: OLD, endedAtMs: 2001 }, { attempts: 1, strayWrites: 1 }],
    ['taken by a third server', { server: OTHER }, { attempts: 1, strayWrites: 1 }],
    ['stray though begun before the fault', { startedAtMs: 1, server: OLD, endedAtMs: 2001 }, { strayWrites: 1 }],
  ])('%s', (_, parts, expected) => {
    expect(count([anAttempt(parts)], FACTS)).toEqual({ ...NOTHING, ...expected });
  });

  test('without a change the primary may go on taking writes', () => {
    const facts = { ...FACTS, after: OLD, changedAtMs: Infinity };
    expect(count([anAttempt({ server: OLD, endedAtMs: 9000 })], facts).strayWrites).toBe(0);
  });
});

const PEER = 'Pointsman';
const GOOD = { delayMs: 50, saidAfterMs: 0, counts: { ...NOTHING, attempts: 10 }, errors: [] };
const FROZEN = {
  sessions: 10,
  cutWhileHealthy: 0,
  leftBehind: 0,
  endsMs: [],
  saidAfterMs: 0,
  counts: NOTHING,
  errors: [],
};

function rounds(parts: Partial<Rounds>): Rounds {
  const none = { switchovers: [], deaths: [], restarts: [], freezes: [], replacements: [] };
  return { ...none, cancels: new Map([[PEER, 20]]), ...parts };
}

const of = <T>(...figures: readonly T[]) => figures.map((figure) => new Map([[PEER, figure]]));

describe('the limits', () => {
  it('are kept by a good run, also by one without all parts', () => {
    const good = rounds({ switchovers: of(GOOD), deaths: of(GOOD), freezes: of(FROZEN), replacements: of(FROZEN) });
    expect(missedBars(resultOf(PEER, good), 20)).toEqual([]);
    expect(missedBars(resultOf(PEER, rounds({})), 20)).toEqual([]);
  });

  test.each<[Partial<Rounds>, string]>([
    [{ switchovers: of({ ...GOOD, delayMs: 101 }) }, 'median after a switchover, ms: 101, the bar is 100'],
    [{ deaths: of({ ...GOOD, delayMs: Infinity }) }, 'median after a host death, ms: Infinity, the bar is 100'],
    [{ deaths: of({ ...GOOD, counts: { ...NOTHING, failedConnects: 1 } }) }, 'failed connects: 1, the bar is 0'],
    [{ switchovers: of({ ...GOOD, counts: { ...NOTHING, readOnlyErrors: 2 } }) }, 'read-only errors: 2, the bar is 0'],
    [
      { replacements: of({ ...FROZEN, counts: { ...NOTHING, strayWrites: 1 } }) },
      'writes that reached a non-primary: 1, the bar is 0',
    ],
    [
      { freezes: of({ ...FROZEN, cutWhileHealthy: 1 }) },
      'sessions cut although their primary was healthy: 1, the bar is 0',
    ],
    [{ cancels: new Map([[PEER, 19]]) }, 'cancels that worked: 19 of 20'],
  ])('missed: %j', (parts, miss) => {
    expect(missedBars(resultOf(PEER, rounds(parts)), 20)).toEqual([miss]);
  });
});

test('the table has one column for each peer, with the median and the range', () => {
  const drawn = table([resultOf(PEER, rounds({ switchovers: of(GOOD, { ...GOOD, delayMs: 70 }) }))], 20).split('\n');
  expect(drawn[0]).toMatch(/^\| +\| Pointsman +\| bar +\|$/);
  expect(drawn[2]).toContain('| 60 (50-70), n=2 | ≤ 100 |');
  expect(new Set(drawn.map((line) => line.length)).size).toBe(1);
});

describe('options', () => {
  it('are checked', () => {
    expect(readOptions(['--freezes', '3,12']).freezesMs).toEqual([3000, 12_000]);
    expect(() => readOptions(['--deaths', 'two'])).toThrow(/--deaths: 'two' is not a whole number from 0 to 100/);
  });
});
