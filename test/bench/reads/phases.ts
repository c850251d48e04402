// The phases of a run: how much is written, how late replicas are, and which fault happens meanwhile.
import { READ_FAULTS, type ReadFault } from './faults.ts';

export interface Phase {
  readonly name: string;
  readonly writers: number;
  /** Between two writes of a writer. Milliseconds. */
  readonly pauseMs: number;
  readonly isAsynchronous: boolean;
  /** `recovery_min_apply_delay` of both replicas. Milliseconds. */
  readonly delayMs: number;
  /** The reads begin before it, and go on behind it. */
  readonly fault: ReadFault | undefined;
}

/** The last one shows on a machine that is busy, too. */
const DELAYS_MS = [0, 5, 50, 200];
const QUIET = { name: 'quiet', writers: 1, pauseMs: 20 };
const BUSY = { name: 'busy', writers: 6, pauseMs: 0 };
/** Both kinds of commit, and room for everything else. */
const DURING_FAULTS = { writers: 4, pauseMs: 2, isAsynchronous: true, delayMs: 0 };

/** `faults`: a text that is in the names of those that are wanted; empty: all. */
export function phasesOf({
  faults,
  isBrief,
}: {
  readonly faults: string;
  readonly isBrief: boolean;
}): readonly Phase[] {
  const delays = isBrief ? DELAYS_MS.slice(-1) : DELAYS_MS;
  const steady = delays.flatMap((delayMs) =>
    [QUIET, BUSY].flatMap((load) =>
      [false, true].map((isAsynchronous): Phase => {
        // The only writer of a quiet cluster is the first one, whose commits are synchronous.
        const writers = isAsynchronous ? Math.max(2, load.writers) : load.writers;
        const name = `${load.name}, replicas ${delayMs} ms late${isAsynchronous ? ', synchronous_commit = off' : ''}`;
        return { ...load, writers, name, isAsynchronous, delayMs, fault: undefined };
      }),
    ),
  );
  const wanted = READ_FAULTS.filter(({ name }) => faults.split(',').some((text) => name.includes(text)));
  return [...steady, ...wanted.map((fault): Phase => ({ ...DURING_FAULTS, name: fault.name, fault }))];
}
