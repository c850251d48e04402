// The floor: a proxy of bare Node handles (floor-main.ts), in its own process.
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'rolldown/utils';
import { z } from 'zod';
import { Child } from '../child.ts';
import type { Peer, Surroundings } from './peer.ts';

const told = z.object({ port: z.number() });

export async function startFloor({ backendPort }: Surroundings): Promise<Peer> {
  await using started = new AsyncDisposableStack();
  const directory = started.use(mkdtempDisposableSync(join(tmpdir(), 'pointsman-bench-')));
  const main = join(directory.path, 'floor.mjs');
  writeFileSync(main, compiled());
  const begunMs = performance.now();
  const args = ['--no-deprecation', main, String(backendPort)];
  const child = started.use(new Child({ command: process.execPath, args }));
  const { port } = await child.saying('port', (line) =>
    line.startsWith('{') ? told.parse(JSON.parse(line)) : undefined,
  );
  const startedWithinMs = performance.now() - begunMs;
  const held = started.move();
  return {
    name: 'floor',
    port,
    pid: child.pid,
    startedWithinMs,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Compiled, as Pointsman is. A Node that strips the types itself takes 18 MB and 50 ms more. */
function compiled(): string {
  const file = join(import.meta.dirname, 'floor-main.ts');
  return transformSync(file, readFileSync(file, 'utf8')).code;
}
