import { expect, it } from 'vitest';
import { SeedPlayer } from './seed-player.ts';
import { judgePart } from './seeds.ts';

judgePart(0, 'G1, G2, G3, G4, G5, G6, G7, G8, G9, G10, G11, G12, G13, G14, G15, G16, G17, G20, G22, G24: laws hold');

it('the same seed gives the same history in two processes, byte for byte', async () => {
  const players = [new SeedPlayer(), new SeedPlayer()];
  try {
    const [first, second] = await Promise.all(players.map((player) => player.play(5)));
    expect(first?.hash).toMatch(/^[0-9a-f]{8,}$/);
    expect(second?.hash).toBe(first?.hash);
  } finally {
    await Promise.all(players.map((player) => player.close()));
  }
});
