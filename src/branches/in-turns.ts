// Work on a long list in short turns, so that the bytes of clients are forwarded in between. The work is a generator
// that yields wherever it may pause.
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 5;
/** Entries of a list between two places where work may pause. */
export const ENTRIES = 100;

export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const endsAt = performance.now() + TURN_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < endsAt);
    await nextTurn();
  }
}

export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
