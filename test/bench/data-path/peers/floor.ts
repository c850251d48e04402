// The floor: a proxy of bare Node handles (floor-main.ts), in its own process.
import { join } from 'node:path';
import { z } from 'zod';
import { Child } from '../child.ts';
import type { Peer, Surroundings } from './peer.ts';

const told = z.object({ port: z.number() });

export async function startFloor({ backendPort }: Surroundings): Promise<Peer> {
  const begunMs = performance.now();
  const main = join(import.meta.dirname, 'floor-main.ts');
  const child = new Child({ command: process.execPath, args: ['--no-deprecation', main, String(backendPort)] });
  const { port } = await child.saying('port', (line) =>
    line.startsWith('{') ? told.parse(JSON.parse(line)) : undefined,
  );
  return {
    name: 'floor',
    port,
    pid: child.pid,
    startedWithinMs: performance.now() - begunMs,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
