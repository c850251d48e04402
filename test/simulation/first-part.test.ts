import { expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { judgePart } from './seeds.ts';

judgePart(0, 'G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12, G13, G14, G15, G16, G17, G20, G22, G24: laws hold');

it('the same seed gives the same history, byte for byte', async () => {
  const first = await runSeed(5);
  expect((await runSeed(5)).history.lines()).toEqual(first.history.lines());
});
