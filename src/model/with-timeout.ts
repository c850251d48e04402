// Waits for a promise, at most for a given time.
import type { Clock } from './instant.ts';

/** The value of `done`, or undefined after `limitMs`. */
export async function withTimeout<T>(clock: Clock, limitMs: number, done: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.schedule(limitMs, () => late.resolve(undefined));
  const result = await Promise.race([done, late.promise]);
  cancel();
  return result;
}
