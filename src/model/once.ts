// Callbacks that many rooms need.
import type { Clock } from './instant.ts';

/** There is nothing to cancel, or nobody to tell. */
export const nothing = (): void => {};

/** The first call counts, and no other: of several events that end something the first one decides. */
export function once<Arguments extends readonly unknown[]>(
  run: (...values: Arguments) => void,
): (...values: Arguments) => void {
  let isDone = false;
  return (...values) => {
    if (isDone) return;
    isDone = true;
    run(...values);
  };
}

/** Makes the value when it is first asked for. */
export function memoized<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Runs when `promise` has settled, and after `limitMs` at the latest. Returns the cancel function. */
export function whenSettled(promise: Promise<void>, clock: Clock, limitMs: number, run: () => void): () => void {
  const end = (): void => settled(true);
  const settled = once((mayRun: boolean): void => {
    cancelLimit();
    if (mayRun) run();
  });
  const cancelLimit = clock.schedule(limitMs, end);
  void promise.then(end, end);
  return () => settled(false);
}
