// Waiting for a condition: asks again each millisecond, which leaves the processor to the servers that it waits for.
import { setTimeout as sleep } from 'node:timers/promises';

type Asked<T> = T | undefined | false;

/** Resolves with the first answer that is neither undefined nor false; fails after `timeoutMs`, naming `what`. */
export async function until<T>(what: string, ask: () => Asked<T> | Promise<Asked<T>>, timeoutMs = 15_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(1);
  }
}
