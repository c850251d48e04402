// The axes of a chart.
import { expect, test } from 'vitest';
import { ticksBetween, topOf, windowOf } from '../../../../src/page/charts/scale.ts';

test.each([
  [null, 2],
  [0, 2],
  [3, 4],
  [5, 10],
  [42, 100],
  [118, 200],
  [5000, 10_000],
])('the top above %s sessions is %s', (most, top) => {
  expect(topOf(most, 'count')).toBe(top);
});

test.each([
  [0, 2],
  [1500, 2 * 1024],
  [41 * 1024 ** 2, 100 * 1024 ** 2],
  [1023 * 1024 ** 2, 2000 * 1024 ** 2],
])('the top above %s bytes is %s', (most, top) => {
  expect(topOf(most, 'bytes')).toBe(top);
});

test('a chart shows the part of the hour that it has samples of', () => {
  expect([0, 300, 301, 900, 901, 3600].map(windowOf)).toEqual([300, 300, 900, 900, 3600, 3600]);
});

test('ticks are whole minutes, or quarters of an hour', () => {
  expect(ticksBetween(1000, 1300)).toEqual([1020, 1080, 1140, 1200, 1260]);
  expect(ticksBetween(0, 3600)).toEqual([0, 900, 1800, 2700, 3600]);
});
