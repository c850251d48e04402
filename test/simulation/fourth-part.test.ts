import { it } from 'vitest';
import { judgePart } from './seeds.ts';

it('every law holds in each history of the fourth part of the seeds', async () => {
  await judgePart(3);
}, 300_000);
