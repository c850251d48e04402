import { expect, test } from 'vitest';
import { createLastGood } from '../../../src/discovery/last-good.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

test('above the limit of names, the one with the oldest answer is forgotten', async () => {
  let isDown = false;
  const recall = createLastGood<string>({
    lookUp: (name) => (isDown ? Promise.reject(new Error('down')) : Promise.resolve({ value: name, freshMs: 0 })),
    clock: new ManualClock(),
    timeoutMs: 1000,
  });
  for (let index = 0; index < 512; index += 1) await recall(`host-${index}`);
  await recall('host-0');
  await recall('one-more');
  isDown = true;
  expect(await recall('host-0')).toMatchObject({ kind: 'known', value: 'host-0' });
  expect(await recall('host-1')).toEqual({ kind: 'unknown', why: 'down' });
});
