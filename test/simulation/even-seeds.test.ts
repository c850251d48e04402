import { expect, it } from 'vitest';
import { judgeHalf } from './seeds.ts';
import { SITUATION_NAMES } from './situations.ts';

it('G1, G2, G3, G4, G8, G11, G24: every law holds with an even seed, and 60 situations are reached', async () => {
  expect(SITUATION_NAMES.length).toBeGreaterThanOrEqual(60);
  await judgeHalf(0);
}, 300_000);
