import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../support/waiting/system-clock.ts';

/** The limit of one timer of Node, and the longest delay that the configuration accepts. */
const LONGEST_MS = 2 ** 31 - 1;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test('a delay above the limit of one timer is waited for to its end', () => {
  let runs = 0;
  systemClock.schedule(LONGEST_MS + 1_000, () => (runs += 1));
  vi.advanceTimersByTime(LONGEST_MS + 999);
  expect(runs).toBe(0);
  vi.advanceTimersByTime(1);
  expect([runs, vi.getTimerCount()]).toEqual([1, 0]);
});

test('a delay that is cancelled between two of its timers leaves no timer', () => {
  const cancel = systemClock.schedule(LONGEST_MS + 1_000, () => expect.unreachable());
  vi.advanceTimersByTime(LONGEST_MS + 1);
  expect(vi.getTimerCount()).toBe(1);
  cancel();
  expect(vi.getTimerCount()).toBe(0);
});
