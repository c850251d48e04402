import { expect, test } from 'vitest';
import { GuessLimit } from '../../../../src/proxy/cancel/guess-limit.ts';

const LOUD = '10.0.0.1';
const QUIET = '10.0.0.2';

function countOf(ration: GuessLimit, address: string, times: number, now: number): number {
  let taken = 0;
  for (let time = 0; time < times; time += 1) taken += ration.take(address, now) ? 1 : 0;
  return taken;
}

test('one address alone has the whole common part, and then one guess a second', () => {
  const ration = new GuessLimit(20, 0);
  expect(countOf(ration, LOUD, 100, 0)).toBe(20);
  expect(countOf(ration, LOUD, 100, 500)).toBe(10);
});

test('an address that floods leaves every other address its guess of each second', () => {
  const ration = new GuessLimit(20, 0);
  for (let second = 0; second < 60; second += 1) {
    const now = second * 1_000;
    countOf(ration, LOUD, 1_000, now);
    expect(ration.take(QUIET, now + 1)).toBe(true);
    countOf(ration, LOUD, 1_000, now + 2);
    expect(ration.take(QUIET, now + 3), 'not two of them').toBe(false);
  }
});

test('many addresses share the part for rare guesses', () => {
  const ration = new GuessLimit(20, 0);
  const taken = Array.from({ length: 5_000 }, (_, index) => ration.take(`10.1.${index >> 8}.${index & 255}`, 0));
  expect(taken.filter(Boolean)).toHaveLength(40);
});
