import { expect, test } from 'vitest';
import { StallWatch } from '../../../src/monitor/stall-watch.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

function aWatch(limitMs = 1000) {
  const clock = new ManualClock(0);
  const stalls: number[] = [];
  const watch = new StallWatch({ clock, limitMs: () => limitMs, onStall: (at) => stalls.push(at) });
  watch.start();
  return { clock, stalls, watch };
}

test('time with regular beats is no stall', async () => {
  const { clock, stalls, watch } = aWatch();
  await clock.advance(10_000);
  watch.look(clock.now());
  expect(stalls).toEqual([]);
});

test('a stall is reported once: by a reader of the clock, if it comes before the beat', async () => {
  const { clock, stalls, watch } = aWatch();
  await clock.advance(500);
  clock.stall(1100);
  watch.look(clock.now());
  watch.look(clock.now());
  await clock.advance(5000);
  expect(stalls).toEqual([1600]);
});

test('a stall is reported by the late beat', async () => {
  const { clock, stalls } = aWatch();
  clock.stall(3000);
  await clock.advance(0);
  expect(stalls).toEqual([3000]);
});

test('less than a quarter of a second is no stall, however short the interval', async () => {
  const { clock, stalls } = aWatch(50);
  clock.stall(240);
  await clock.advance(1000);
  expect(stalls).toEqual([]);
});

test('after stop() it keeps no timer and reports nothing', () => {
  const { clock, stalls, watch } = aWatch();
  watch.stop();
  expect(clock.pending()).toBe(0);
  clock.stall(5000);
  watch.look(clock.now());
  expect(stalls).toEqual([]);
});
