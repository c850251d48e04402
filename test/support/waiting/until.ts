// Waiting for a condition: asks again each millisecond, which leaves the processor to the servers that it waits for.
import { setTimeout as sleep } from 'node:timers/promises';

type Asked<T> = T | undefined | false;

/**
 * A pause of the machine counts as so much, whatever it lasts: the servers stood still as well. All pauses together
 * add at most as much time again.
 */
const LONGEST_PAUSE_MS = 500;

/** Resolves with the first answer that is neither undefined nor false; fails after `timeoutMs`, naming `what`. */
export async function until<T>(what: string, ask: () => Asked<T> | Promise<Asked<T>>, timeoutMs = 15_000): Promise<T> {
  const startedAt = performance.now();
  let paused = 0;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const askedAt = performance.now();
    if (askedAt - startedAt - Math.min(paused, timeoutMs) > timeoutMs)
      throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(1);
    paused += Math.max(0, performance.now() - askedAt - LONGEST_PAUSE_MS);
  }
}
