// Simulated time. Events happen one after another, in the order of their instants. Between two of them the queues of
// Node run empty, as they do between two events of libuv.
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Timeline {
  /** Milliseconds since the beginning. */
  readonly now: () => number;
  /** The returned function cancels the event and is idempotent. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
  /** Runs what is due until then. */
  readonly runUntil: (atMs: number) => Promise<void>;
  /** The events so far. */
  readonly count: () => number;
}

interface Event {
  readonly at: number;
  /** Events of one instant happen in the order in which they were made. */
  readonly number: number;
  run: (() => void) | undefined;
}

export function createTimeline(): Timeline {
  const heap: Event[] = [];
  let now = 0;
  let made = 0;
  let count = 0;
  return {
    now: () => now,
    schedule(delayMs, run) {
      const event: Event = { at: now + Math.max(0, delayMs), number: (made += 1), run };
      push(heap, event);
      return () => void (event.run = undefined);
    },
    async runUntil(atMs) {
      await nextTurn();
      for (let first = heap[0]; first !== undefined && first.at <= atMs; first = heap[0]) {
        pop(heap);
        if (first.run === undefined) continue;
        now = first.at;
        count += 1;
        first.run();
        await nextTurn();
      }
      now = atMs;
    },
    count: () => count,
  };
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || isBefore(parent, event)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = event;
}

/** Removes the first one. */
function pop(heap: Event[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    let child = heap[below];
    const right = heap[below + 1];
    if (child !== undefined && right !== undefined && isBefore(right, child)) {
      child = right;
      below += 1;
    }
    if (child === undefined || isBefore(last, child)) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = last;
}
