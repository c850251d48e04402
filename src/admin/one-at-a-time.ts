// Building a document costs processor time, and with workers a request to each of them. One is built at a time, however
// many callers there are.

/** Callers during a build share the next one, so no answer is older than its request. */
export function oneAtATime<T>(make: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const made = make().finally(() => {
      if (current === made) current = undefined;
    });
    current = made;
    return made;
  };
  const beginNext = (): Promise<T> => {
    next = undefined;
    return begin();
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(beginNext, beginNext);
    return next;
  };
}
