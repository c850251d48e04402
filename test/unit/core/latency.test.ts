// The estimate of a member's latency: what counts, for how long, and the part of its weight that follows.
import { expect, test } from 'vitest';
import { estimatedMs, latencyShares, withObservation } from '../../../src/core/latency.ts';
import type { Estimate } from '../../../src/core/latency.ts';

function after(durations: readonly number[], now = 0, before?: Estimate): Estimate {
  const [first = 1, ...rest] = durations;
  return rest.reduce((known, ms) => withObservation(known, ms, now), withObservation(before, first, now));
}

function requestsOf(estimates: Readonly<Record<string, Estimate | undefined>>) {
  return new Map(Object.entries(estimates).map(([name, requests]) => [name, { requests, logins: undefined }]));
}

const often = (ms: number): readonly number[] => Array.from({ length: 64 }, () => ms);

test('a geometric mean: one report among short queries makes nobody slow', () => {
  expect(estimatedMs(after([10, 1000]))).toBeCloseTo(100);
  expect(estimatedMs(after([...often(1), 60_000]))).toBeLessThan(1.2);
});

test('a busy member that becomes slow is known after as many requests as an estimate holds', () => {
  const slow = after(often(10), 1, after(Array.from({ length: 5_000 }, () => 1)));
  expect(estimatedMs(slow)).toBeGreaterThan(4);
});

test('an estimate stands for its newest observations, and keeps its time however many there are', () => {
  let known: Estimate | undefined;
  for (let seen = 1; seen <= 200; seen += 1) {
    known = withObservation(known, 10, 0);
    expect(known.count).toBeCloseTo(Math.min(seen, 64));
    expect(estimatedMs(known)).toBeCloseTo(10);
  }
  expect(estimatedMs(withObservation(known, 10, 20_000))).toBeCloseTo(10);
});

test('a time of 0 is a short one', () => {
  expect(estimatedMs(after([0]))).toBeCloseTo(0.01);
});

test('ten times as slow: about a hundredth of the weight; the fastest has all of it', () => {
  const shares = latencyShares(requestsOf({ a: after(often(100)), b: after(often(10)), c: after(often(10)) }), 0);
  expect(shares.get('b')).toBe(1);
  expect(shares.get('c')).toBe(1);
  expect(shares.get('a')).toBeCloseTo(0.0128, 3);
});

test('never used, or not used for a minute: as the fastest, so that it is tried', () => {
  const members = requestsOf({ a: after(often(100)), b: after(often(10)), c: undefined });
  expect(latencyShares(members, 0).get('c')).toBe(1);
  const later = new Map([...members, ['b', { requests: after(often(10), 60_000), logins: undefined }]]);
  expect(latencyShares(later, 5_000).get('a')).toBeLessThan(0.02);
  expect(latencyShares(later, 60_000).get('a')).toBeGreaterThan(0.7);
});

test('an old fast time does not make the others slow', () => {
  const members = requestsOf({ a: after(often(1)), b: after(often(10), 90_000) });
  const shares = latencyShares(members, 90_000);
  expect(shares.get('a')).toBe(1);
  expect(shares.get('b')).toBe(1);
});

test('after hours nothing is left of any time, and each member has all of its weight', () => {
  const shares = latencyShares(requestsOf({ a: after(often(100)), b: after(often(1)) }), 86_400_000);
  expect([...shares.values()]).toEqual([1, 1]);
});

test('a difference that no client notices decides little', () => {
  const shares = latencyShares(requestsOf({ a: after(often(0.02)), b: after(often(0.06)) }), 0);
  expect(shares.get('b')).toBeGreaterThan(0.7);
  expect(shares.get('b')).toBeLessThan(0.9);
});

test('the slower of requests and logins decides, and nobody is left without a part', () => {
  const requests = after(often(1));
  const members = new Map([
    ['a', { requests, logins: after(often(5)) }],
    ['b', { requests, logins: after(often(1_000_000)) }],
  ]);
  const shares = latencyShares(members, 0);
  expect(shares.get('a')).toBe(1);
  expect(shares.get('b')).toBe(0.001);
});
