// Samples of the last hour, continued with each status.
import { expect, test } from 'vitest';
import type { SamplesDocument } from '../../../../src/documents/samples-document.ts';
import type { StatusDocument } from '../../../../src/documents/status-document.ts';
import { withPoint, withSampleOf } from '../../../../src/page/state/samples.ts';
import { STATUS } from '../../../support/values/console.ts';

const START = 1_700_000_000;

function at(seconds: number, change: Partial<StatusDocument> = {}): StatusDocument {
  return { ...STATUS, ...change, time: new Date((START + seconds) * 1000).toISOString() };
}

function samplesUntil(seconds: number, count: number): SamplesDocument {
  const times = Array.from({ length: count }, (_, index) => START + seconds - 5 * (count - 1 - index));
  return {
    interval_seconds: 5,
    times,
    pools: { write: { sessions: times.map(() => 1), waiting: times.map(() => 0), parked: times.map(() => 0) } },
    members: { gone: { lag_bytes: times.map(() => 9), sessions: times.map(() => 2) } },
  };
}

test('a status becomes a sample when a whole interval has passed', () => {
  const samples = samplesUntil(0, 3);
  expect(withSampleOf(samples, at(4.9))).toBe(samples);
  const { times, pools, members } = withSampleOf(samples, at(5));
  expect(times.slice(-2)).toEqual([START, START + 5]);
  expect(pools['write']).toEqual({ sessions: [1, 1, 1, 7], waiting: [0, 0, 0, 2], parked: [0, 0, 0, 0] });
  expect(pools['read']).toBeUndefined();
  expect(members['gone']).toEqual({ lag_bytes: [9, 9, 9, null], sessions: [2, 2, 2, null] });
  expect(members['pg-1']).toEqual({ lag_bytes: [null, null, null, null], sessions: [null, null, null, 7] });
});

test('every list has as many values as there are times, and never more than an hour', () => {
  let samples = samplesUntil(0, 720);
  for (let seconds = 5; seconds <= 5 * 800; seconds += 5) samples = withSampleOf(samples, at(seconds));
  expect([samples.times.length, samples.times.at(-1)]).toEqual([720, START + 4000]);
  const lists = [...Object.values(samples.pools), ...Object.values(samples.members)].flatMap((one) =>
    Object.values(one),
  );
  expect(new Set(lists.map((values) => values.length))).toEqual(new Set([720]));
  expect(Object.keys(samples.members)).toEqual(['pg-1']);
});

test('the newest status is the last point at any time; a clock that was put back adds none', () => {
  const samples = samplesUntil(0, 2);
  expect(withPoint(samples, at(1)).times).toEqual([START - 5, START, START + 1]);
  expect(withPoint(samples, at(0))).toBe(samples);
  expect(withPoint(samples, at(-60))).toBe(samples);
});

test('without samples it begins with the status', () => {
  const empty = { interval_seconds: 5, times: [], pools: {}, members: {} };
  expect(withSampleOf(empty, at(0)).times).toEqual([START]);
});

test('sessions on their way are sessions of their pool, and parked', () => {
  const [first, ...others] = STATUS.pools;
  if (first === undefined || first.sessions === null) throw new Error('no pool');
  const by_state = { ...first.sessions.by_state, parked: 4, moving: 1 };
  const pools = [{ ...first, sessions: { ...first.sessions, by_state } }, ...others];
  const write = withSampleOf(samplesUntil(0, 1), at(5, { pools })).pools['write'];
  expect([write?.sessions.at(-1), write?.parked.at(-1)]).toEqual([7 + 4, 5]);
});
