// Documents cost processor time, and with workers a question to each of them: however many ask, one is made at a time.

/** Who asks while one is being made shares the next one with all others who do: it is never older than the question. */
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
