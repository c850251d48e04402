import { expect, test } from 'vitest';
import { WorkerSlot } from '../../../src/workers/worker-slot.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

/** A slot whose workers start at once. */
function aSlot() {
  const clock = new ManualClock();
  const launched: number[] = [];
  const slot = new WorkerSlot({
    number: 2,
    clock,
    launch: () => {
      launched.push(clock.now());
      return { hasBegun: true, startedAt: clock.now() };
    },
  });
  slot.start();
  /** Its worker dies; returns the pause. */
  const die = (): number => {
    const { worker } = slot;
    if (worker === undefined) throw new Error('nobody is there');
    const pauseMs = slot.workerLost(worker, 'killed by SIGKILL');
    slot.restartIn(pauseMs, () => true);
    return pauseMs;
  };
  return { clock, slot, launched, die };
}

test('the next worker starts soon, and ever later if one after the other dies', async () => {
  const { clock, slot, launched, die } = aSlot();
  const pauses: number[] = [];
  for (let death = 0; death < 9; death += 1) {
    const pauseMs = die();
    pauses.push(pauseMs);
    await clock.advance(pauseMs - 1);
    expect(slot.worker).toBeUndefined();
    await clock.advance(1);
  }
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  expect([launched.length, slot.restarts]).toEqual([10, 9]);
});

test('after the fifth death in a row the slot is unreliable, until one worker has lived for a while', async () => {
  const { clock, slot, die } = aSlot();
  for (let death = 0; death < 4; death += 1) await clock.advance(die());
  expect(slot.trouble()).toBeUndefined();
  await clock.advance(die());
  expect(slot.trouble()).toBe('worker 2 keeps dying: killed by SIGKILL');
  await clock.advance(9_999);
  expect(slot.trouble()).toBeDefined();
  await clock.advance(1);
  expect(slot.trouble()).toBeUndefined();
  expect(die(), 'one that was well counts as the first').toBe(100);
  expect(slot.trouble()).toBeUndefined();
});

test('no worker starts if that is not allowed, or after stop()', async () => {
  const { clock, slot, launched } = aSlot();
  const { worker } = slot;
  if (worker !== undefined) slot.workerLost(worker, 'x');
  slot.restartIn(100, () => false);
  await clock.advance(100);
  expect([launched.length, clock.pending()]).toEqual([1, 0]);
  slot.restartIn(100, () => true);
  slot.stop();
  await clock.advance(100);
  expect(launched.length).toBe(1);
});
