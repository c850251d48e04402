// Is loaded into a process that is measured: at SIGUSR2 it collects garbage until its memory stands still, and prints
// the memory as a line of JSON.
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';

/** Less is what the collection itself changes. Bytes. */
const STILL_BYTES = 512;
const MOST_ROUNDS = 30;
/** Buffers are freed beside the program, and handles in a later turn. Milliseconds. */
const PAUSE_MS = 20;
/** Compiled code has spaces of its own. It belongs to no session, and comes and goes while others are measured. */
const OBJECTS = new Set(['new_space', 'old_space', 'large_object_space', 'new_large_object_space']);

process.on('SIGUSR2', () => void report());

async function report(): Promise<void> {
  let last = memory();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    globalThis.gc?.({ type: 'major', execution: 'sync' });
    await sleep(PAUSE_MS);
    const now = memory();
    const isStill = Math.abs(now.heap + now.external - last.heap - last.external) < STILL_BYTES;
    last = now;
    if (isStill) break;
  }
  console.log(JSON.stringify({ event: 'memory', ...last }));
}

/** Bytes of objects, and outside of V8's heap: the buffers among them. */
function memory(): { readonly heap: number; readonly external: number } {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => OBJECTS.has(name));
  const heap = spaces.reduce((sum, space) => sum + space.space_used_size, 0);
  return { heap, external: process.memoryUsage().external };
}
