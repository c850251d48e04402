import { expect, it } from 'vitest';
import { judgeHalf } from './seeds.ts';
import { SITUATION_NAMES } from './situations.ts';

it('G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12, G13, G14, G15, G16, G17, G20, G22, G24: laws hold', async () => {
  expect(SITUATION_NAMES.length).toBeGreaterThanOrEqual(60);
  await judgeHalf(0);
}, 300_000);
