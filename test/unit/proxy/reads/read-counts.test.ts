// Causal reads in numbers: totals, the waits by their length, and the last minute.
import { beforeEach, expect, test } from 'vitest';
import { ReadCounts } from '../../../../src/proxy/reads/read-counts.ts';
import { NO_RESULTS, READ_WAIT_BOUNDS_MS, sumOfReads } from '../../../../src/reports/causal-reads.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

let clock: ManualClock;
let counts: ReadCounts;
let noted: unknown[];

beforeEach(() => {
  clock = new ManualClock();
  noted = [];
  counts = new ReadCounts({ clock, late: { note: (...one) => void noted.push(one) } });
});

const late = { result: 'moved', member: 'pg-3', why: 'pg-3 is behind pg-1.' } as const;

test('waits by their length: a bound belongs to the waits that it ends', () => {
  expect(counts.counts().waits).toEqual(Array(READ_WAIT_BOUNDS_MS.length + 1).fill(0));
  const waits = [0.05, 0.1, 0.11, 500, 5000];
  for (const ms of waits) {
    counts.begins();
    counts.ends('waited', ms);
  }
  const found = counts.counts();
  expect(found.waits).toHaveLength(READ_WAIT_BOUNDS_MS.length + 1);
  expect([found.waits[0], found.waits[1], found.waits[11], found.waits.at(-1)]).toEqual([2, 1, 1, 1]);
  expect(found).toMatchObject({ waitedMs: 5500.26, waiting: 0, results: { waited: 5 } });
});

test('a read that ends with its session counts no longer, and nowhere', () => {
  counts.begins();
  expect(counts.counts().waiting).toBe(1);
  counts.ends(undefined, 100);
  expect(counts.counts()).toMatchObject({ waiting: 0, waitedMs: 0, results: NO_RESULTS });
});

test('the last minute forgets what is older', async () => {
  counts.begins();
  counts.endsLate(late, 500);
  counts.isFree();
  const minute = { results: { ...NO_RESULTS, free: 1, moved: 1 }, waitedMs: 500, longestMs: 500 };
  expect(counts.counts().lastMinute).toEqual({ ...minute, lateOn: new Map([['pg-3', 1]]) });
  expect(noted).toEqual([['pg-3', 'moved', 'pg-3 is behind pg-1.']]);
  await clock.advance(50_000);
  counts.begins();
  counts.ends('at_once', 1);
  expect(counts.counts().lastMinute).toMatchObject({ waitedMs: 501, results: { moved: 1, at_once: 1 } });
  await clock.advance(10_000);
  expect(counts.counts().lastMinute).toMatchObject({ waitedMs: 1, longestMs: 1, lateOn: new Map() });
  await clock.advance(60_000);
  expect(counts.counts().lastMinute.results).toEqual(NO_RESULTS);
  expect(counts.counts().results).toEqual({ ...NO_RESULTS, free: 1, moved: 1, at_once: 1 });
});

test('many reads of one moment count, and of each moment of the minute', async () => {
  for (let slice = 0; slice < 13; slice += 1) {
    for (let read = 0; read < 20; read += 1) counts.isFree();
    await clock.advance(slice < 12 ? 5_000 : 0);
  }
  expect(counts.counts().lastMinute.results.free).toBe(12 * 20);
});

test('the sum over workers: the longest wait is the longest of all', () => {
  counts.begins();
  counts.endsLate(late, 500);
  const one = counts.counts();
  const sum = sumOfReads([one, { ...one, lastMinute: { ...one.lastMinute, longestMs: 700 } }]);
  expect(sum).toMatchObject({ waitedMs: 1000, results: { moved: 2 }, lastMinute: { waitedMs: 1000, longestMs: 700 } });
  expect(sum.lastMinute.lateOn).toEqual(new Map([['pg-3', 2]]));
  expect(sum.waits[11]).toBe(2);
});
