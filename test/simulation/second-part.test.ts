import { it } from 'vitest';
import { judgePart } from './seeds.ts';

it('every law holds in each history of the second part of the seeds', async () => {
  await judgePart(1);
}, 300_000);
