// Waiting with a deadline.
import { setTimeout as delay } from 'node:timers/promises';

/** False: the time was over first. Rejects when `event` does. */
export async function isWithin(event: Promise<void>, timeoutMs: number): Promise<boolean> {
  const deadline = new AbortController();
  try {
    return await Promise.race([event.then(() => true), delay(timeoutMs, false, { signal: deadline.signal })]);
  } finally {
    deadline.abort();
  }
}
