// Callbacks that many rooms need.

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
