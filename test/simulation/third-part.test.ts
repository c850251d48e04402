import { it } from 'vitest';
import { judgePart } from './seeds.ts';

it('every law holds in each history of the third part of the seeds', async () => {
  await judgePart(2);
}, 300_000);
