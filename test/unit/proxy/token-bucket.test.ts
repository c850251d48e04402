import { expect, test } from 'vitest';
import { TokenBucket } from '../../../src/proxy/token-bucket.ts';

test('the first are immediate, a fiftieth of a second’s worth; the rest come at the rate', () => {
  const bucket = new TokenBucket(100, 1000);
  expect([bucket.take(1000), bucket.take(1000), bucket.take(1000)]).toEqual([0, 0, 10]);
  expect([bucket.take(1005), bucket.take(1010), bucket.take(1010)]).toEqual([5, 0, 10]);
});

test('a slow rate still lets the first one go at once', () => {
  const bucket = new TokenBucket(0.5, 0);
  expect([bucket.take(0), bucket.take(0), bucket.take(2000)]).toEqual([0, 2000, 0]);
});

test('a burst of another size', () => {
  const bucket = new TokenBucket(10, 0, 3);
  expect([bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 0, 100]);
});

test('an idle time fills it to its burst and no further', () => {
  const bucket = new TokenBucket(100, 0);
  expect([bucket.take(1e6), bucket.take(1e6)]).toEqual([0, 0]);
  expect(bucket.take(1e6)).toBe(10);
});

test('a client that waits for the reported time gets a token, at odd rates too', () => {
  for (const rate of [3, 7, 33, 333]) {
    const bucket = new TokenBucket(rate, 0);
    let now = 0;
    for (let taken = 0; taken < 200; taken += 1) {
      const waitMs = bucket.take(now);
      now += waitMs;
      if (waitMs > 0) expect(bucket.take(now)).toBe(0);
    }
  }
});

test('a token that was not needed serves the next one, within the burst', () => {
  const bucket = new TokenBucket(10, 0, 1);
  expect(bucket.take(0)).toBe(0);
  bucket.returnToken();
  bucket.returnToken();
  expect([bucket.take(0), bucket.take(0)]).toEqual([0, 100]);
});
