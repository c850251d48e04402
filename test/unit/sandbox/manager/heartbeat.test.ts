import { expect, it } from 'vitest';
import { Heartbeat } from '../../../../src/sandbox/manager/heartbeat.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

function aHeartbeat(beat: () => Promise<boolean> = () => Promise.resolve(true)) {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  let beats = 0;
  const heartbeat = new Heartbeat({
    beat: () => {
      beats += 1;
      return beat();
    },
    onError: (error) => errors.push(error),
    waitMs: () => 1000,
    clock,
  });
  heartbeat.start();
  return { clock, heartbeat, errors, beats: () => beats };
}

it('beats every loop_wait, and at once after a poke', async () => {
  const { clock, heartbeat, beats } = aHeartbeat();
  await clock.advance(0);
  expect(beats()).toBe(1);
  await clock.advance(999);
  expect(beats()).toBe(1);
  await clock.advance(1);
  expect(beats()).toBe(2);
  heartbeat.poke();
  await clock.advance(0);
  expect(beats()).toBe(3);
  await heartbeat.close();
  expect(clock.pending()).toBe(0);
});

it('beats once more after a poke during a beat, never twice at a time', async () => {
  const waiting: (() => void)[] = [];
  const finish = () => waiting.shift()?.();
  const { clock, heartbeat, beats } = aHeartbeat(() => new Promise((resolve) => waiting.push(() => resolve(true))));
  await clock.advance(0);
  heartbeat.poke();
  heartbeat.poke();
  await clock.advance(5000);
  expect(beats()).toBe(1);
  expect(heartbeat.ageMs()).toBe(5000);
  finish();
  await clock.advance(0);
  expect(beats()).toBe(2);
  expect(heartbeat.ageMs()).toBe(0);
  finish();
  await heartbeat.close();
});

it('gets older if it does not finish, and while it is frozen', async () => {
  let isEnd = true;
  const { clock, heartbeat, beats } = aHeartbeat(() => Promise.resolve(isEnd));
  await clock.advance(500);
  isEnd = false;
  await clock.advance(2000);
  expect(heartbeat.ageMs()).toBe(2500);
  isEnd = true;
  await heartbeat.freeze();
  const frozenAt = beats();
  heartbeat.poke();
  await clock.advance(9000);
  expect(beats()).toBe(frozenAt);
  expect(heartbeat.ageMs()).toBeGreaterThan(9000);
  heartbeat.thaw();
  await clock.advance(0);
  expect(beats()).toBe(frozenAt + 1);
  await heartbeat.close();
});

it('can be closed while it is frozen', async () => {
  const { clock, heartbeat, beats } = aHeartbeat();
  await clock.advance(0);
  await heartbeat.freeze();
  await heartbeat.close();
  expect(beats()).toBe(1);
});

it('goes on after a failed beat', async () => {
  const { clock, heartbeat, errors, beats } = aHeartbeat(() => Promise.reject(new Error('a full disk')));
  await clock.advance(1000);
  expect(beats()).toBe(2);
  expect(errors).toHaveLength(2);
  expect(heartbeat.ageMs()).toBe(1000);
  await heartbeat.close();
});
