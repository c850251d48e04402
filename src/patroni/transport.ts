// How a request gets to a management API, and how long it may take.
import type { Clock } from '../model/instant.ts';
import { send } from './http.ts';
import { askPort } from './port-state.ts';

export interface Transport {
  readonly clock: Clock;
  readonly send: typeof send;
  readonly askPort: typeof askPort;
}

/** The network of this machine. */
export const HTTP: Transport = {
  clock: {
    now: () => performance.now(),
    schedule(delayMs, run) {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
  },
  send,
  askPort,
};
