// Building a document costs processor time, and with workers a request to each of them. One is built at a time, however
// many callers there are, and the pause between two leaves most of the time to everything else.

/** As a multiple of the time that the last one took. */
const PAUSE = 3;
const LONGEST_PAUSE_MS = 250;

/** Callers during a build and the pause share the next one, so no answer is older than its request. */
export function oneAtATime<T>(make: () => Promise<T>): () => Promise<T> {
  let isResting = false;
  let next: PromiseWithResolvers<T> | undefined;
  const begin = (): Promise<T> => {
    const startedAt = performance.now();
    const rest = (): void => {
      setTimeout(wake, Math.min(PAUSE * (performance.now() - startedAt), LONGEST_PAUSE_MS)).unref();
    };
    isResting = true;
    const made = (async () => await make())();
    made.then(rest, rest);
    return made;
  };
  const wake = (): void => {
    isResting = false;
    const due = next;
    next = undefined;
    if (due !== undefined) begin().then(due.resolve, due.reject);
  };
  return () => {
    if (!isResting) return begin();
    next ??= Promise.withResolvers<T>();
    return next.promise;
  };
}
