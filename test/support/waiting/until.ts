// Waiting for a condition: asks again after a millisecond, or, after an answer that took long, a little later.
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter } from './wait.ts';

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
    const askedAt = performance.now();
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const answeredAt = performance.now();
    const leftMs = timeoutMs - (answeredAt - startedAt - Math.min(paused, timeoutMs));
    if (leftMs < 0) throw new Error(`${what}: not within ${timeoutMs} ms`);
    const pauseMs = Math.max(1, Math.min(leftMs, pauseAfter(answeredAt - askedAt)));
    await sleep(pauseMs);
    paused += Math.max(0, performance.now() - answeredAt - pauseMs - LONGEST_PAUSE_MS);
  }
}
