// The wait for a condition, while the machine stands still.
import { expect, test } from 'vitest';
import { until } from '../../support/waiting/until.ts';

const PAUSE_MS = 1_500;

/** As when nothing on the machine runs. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

test('a pause of the machine does not end the wait', async () => {
  let asked = 0;
  const isThere = (): boolean => {
    asked += 1;
    if (asked === 1) setImmediate(standStill);
    return asked > 3;
  };
  expect(await until('the condition', isThere, 1_000)).toBe(true);
});

test('a condition that does not come ends it, with its name', async () => {
  await expect(until('the condition', () => false, 20)).rejects.toThrow('the condition: not within 20 ms');
});
