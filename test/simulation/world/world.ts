// A world that follows from its seed alone: time, chance, a network of hosts, and the history of what happened.
import { createHistory, type History } from './history.ts';
import { SimulatedNetwork } from './network.ts';
import { seededRandom, type Random } from './random.ts';
import { createTimeline } from './time.ts';

export type Network = Pick<SimulatedNetwork, 'host' | 'hostAt' | 'move' | 'cut' | 'heal' | 'isOpen'>;
export type { SimulatedHost as Host } from './host.ts';

export interface World {
  readonly seed: number;
  readonly random: Random;
  /** The true time: milliseconds since the beginning. */
  readonly now: () => number;
  /** Not on any host: it happens even if all of them are down. The returned function cancels it. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
  /** A line of the history. */
  readonly note: History['note'];
  readonly network: Network;
  readonly history: Pick<History, 'lines' | 'hash'>;
  /** Lets this time pass. */
  readonly run: (forMs: number) => Promise<void>;
  /** How much happened. */
  readonly eventCount: () => number;
}

export function createWorld(seed: number): World {
  const random = seededRandom(seed);
  const timeline = createTimeline();
  const history = createHistory(timeline.now);
  const { note } = history;
  return {
    seed,
    random,
    now: timeline.now,
    schedule: timeline.schedule,
    note,
    network: new SimulatedNetwork({ timeline, random: random.fork('network'), note }),
    history,
    run: (forMs) => timeline.runUntil(timeline.now() + forMs),
    eventCount: timeline.count,
  };
}
