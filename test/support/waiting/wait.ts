// Waiting for a condition with a deadline. Nothing in this harness sleeps for another reason than to ask
// again, and a deadline that passes says what was seen last.
import { setTimeout as delay } from 'node:timers/promises';

/** CLOCK_MONOTONIC in milliseconds: comparable between processes of one machine, unlike performance.now(). */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export type WaitOptions = {
  readonly timeoutMs: number;
  readonly everyMs?: number;
  /** Asked once, after the deadline, for the failure message. */
  readonly explain?: () => Promise<string>;
};

const PAUSES_PER_QUESTION = 3;
const LONGEST_BETWEEN_QUESTIONS_MS = 500;

/** Questions take a quarter of the time, up to a longest pause: the rest is for the servers that are asked. */
export function pauseAfter(questionMs: number): number {
  return Math.min(PAUSES_PER_QUESTION * questionMs, LONGEST_BETWEEN_QUESTIONS_MS);
}

/** Asks until the answer is neither undefined nor false. An exception of `ask` counts as "not yet". */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  options: WaitOptions,
): Promise<T> {
  const deadline = monotonicMs() + options.timeoutMs;
  let lastError: unknown;
  for (;;) {
    const askedAtMs = monotonicMs();
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const now = monotonicMs();
    if (now >= deadline) break;
    const pauseMs = Math.max(options.everyMs ?? 50, pauseAfter(now - askedAtMs));
    // A longer pause gives no condition more time.
    await delay(Math.min(pauseMs, deadline - now));
  }
  const details = [`${what}: not within ${options.timeoutMs} ms`];
  if (lastError !== undefined)
    details.push(`last error: ${lastError instanceof Error ? lastError.message : JSON.stringify(lastError)}`);
  if (options.explain !== undefined) details.push(await options.explain());
  throw new Error(details.join('\n'), { cause: lastError });
}
