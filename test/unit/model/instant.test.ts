import { describe, expect, test } from 'vitest';
import { agesAt } from '../../../src/model/instant.ts';

describe('a question about ages', () => {
  test.each([
    ['at the instant itself', 1000, 1000, 5000, true],
    ['one millisecond before the limit', 5999, 1000, 5000, true],
    ['at the limit', 6000, 1000, 5000, false],
    ['long after', 60_000, 1000, 5000, false],
    ['never happened', 1000, undefined, 5000, false],
    ['before the origin of time', 100, -200, 300, false],
  ])('%s', (_, now, at, limitMs, isYoung) => {
    expect(agesAt(now).isYoung(at, limitMs)).toBe(isYoung);
  });
});

describe('answers hold until the first of them would change', () => {
  test('forever, without a question or without a young age', () => {
    const ages = agesAt(10_000);
    expect(ages.validUntil()).toBe(Infinity);
    ages.isYoung(undefined, 5000);
    ages.isYoung(1000, 5000);
    expect(ages.validUntil()).toBe(Infinity);
  });

  test('or until the earliest change', () => {
    const ages = agesAt(1000);
    ages.isYoung(900, 5000);
    ages.isYoung(500, 600);
    ages.isYoung(999, 15_000);
    expect(ages.validUntil()).toBe(1100);
  });
});
