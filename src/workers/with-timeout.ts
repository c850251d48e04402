// A wait with an end.
import type { Clock } from '../model/instant.ts';

/** What `done` settles with; undefined when that takes longer. */
export async function within<T>(clock: Clock, limitMs: number, done: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.schedule(limitMs, () => late.resolve(undefined));
  const result = await Promise.race([done, late.promise]);
  cancel();
  return result;
}
