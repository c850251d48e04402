// Steady traffic: its rate, the clients that wait, and what is said when it stops.
import { expect, test } from 'vitest';
import { createTraffic } from '../../../../src/sandbox/console/traffic.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

function start() {
  const clock = new ManualClock();
  const told: string[] = [];
  const held: (() => void)[] = [];
  const state = { isHeld: false, fails: false };
  const traffic = createTraffic({
    clock,
    onStatus: (text) => told.push(text),
    ways: [
      {
        name: 'Pointsman',
        write: () => (state.isHeld ? new Promise((resolve) => held.push(resolve)) : Promise.resolve()),
      },
      { name: 'libpq', write: () => (state.fails ? Promise.reject(new Error('gone')) : Promise.resolve()) },
    ],
  });
  traffic.start();
  return { clock, told, held, state, traffic };
}

test('20 writes a second by each way; clients that wait are counted, and their longest wait stays', async () => {
  const { clock, told, held, state, traffic } = start();
  await clock.advance(1_000);
  expect(told).toEqual([
    expect.stringMatching(/^Pointsman (?:19|20)\/s, 0 failed, 0 waiting \| libpq (?:19|20)\/s, 0 failed, 0 waiting$/),
  ]);
  state.isHeld = true;
  state.fails = true;
  await clock.advance(2_000);
  const [ours, theirs] = (told.at(-1) ?? '').split(' | ');
  expect(ours).toMatch(/^Pointsman 0\/s, 0 failed, 3\d waiting, longest (?:1\.9|2\.0) s$/);
  expect(theirs).toMatch(/^libpq 0\/s, (?:39|40|41) failed, 0 waiting$/);
  state.isHeld = false;
  state.fails = false;
  for (const release of held.splice(0)) release();
  await clock.advance(1_000);
  expect(told.at(-1)).toMatch(
    /Pointsman \d+\/s, 0 failed, 0 waiting, longest (?:1\.9|2\.0) s \| libpq (?:19|20|21)\/s/,
  );
  expect(traffic.stop()).toMatch(/^writes: Pointsman (79|80|81) ok, 0 failed, longest (1\.9|2\.0) s \| libpq \d+ ok, /);
  expect(clock.pending()).toBe(0);
});

test('a start begins anew', async () => {
  const { clock, told, traffic } = start();
  await clock.advance(1_000);
  expect(traffic.isOn()).toBe(true);
  traffic.stop();
  expect(traffic.isOn()).toBe(false);
  await clock.advance(5_000);
  expect(told).toHaveLength(1);
  traffic.start();
  await clock.advance(1_000);
  expect(traffic.stop()).toMatch(/^writes: Pointsman (19|20) ok, 0 failed \| libpq/);
});
