// Ends sessions that have lived for as long as their pool allows, so that a member which came back gets its part of a load that
// never reconnects by itself. Only between two transactions: what cannot be read (TLS of client and member) is left alone.
import type { Clock } from '../../model/instant.ts';
import { describeAge } from './close-message.ts';
import type { EndReason } from './close-message.ts';
import type { Drainable, WhenIdle } from './when-idle.ts';

export interface Ageing extends Drainable {
  end(reason: EndReason, detail?: string): void;
}

export interface SessionAgesInputs {
  readonly clock: Clock;
  readonly whenIdle: WhenIdle;
  /** A number in [0, 1). */
  readonly random: () => number;
}

const nothing = (): void => {};

/** Either way, so that sessions which began together do not end together. */
const JITTER = 0.1;
/** Node's timers overflow above it: a longer age takes several. */
const LONGEST_MS = 2 ** 31 - 1;

export class SessionAges {
  readonly #inputs: SessionAgesInputs;

  constructor(inputs: SessionAgesInputs) {
    this.#inputs = inputs;
  }

  /** The session begins now. Returns what forgets it; idempotent. */
  watch(session: Ageing, maxAgeMs: number | undefined): () => void {
    if (maxAgeMs === undefined) return nothing;
    const { clock, whenIdle, random } = this.#inputs;
    const startedAt = clock.now();
    const ageMs = maxAgeMs * (1 - JITTER + 2 * JITTER * random());
    const end = (): void => session.end('too_old', describeAge(clock.now() - startedAt, maxAgeMs));
    let forget = nothing;
    const wait = (): void => {
      const leftMs = startedAt + ageMs - clock.now();
      forget = leftMs > 0 ? clock.schedule(Math.min(leftMs, LONGEST_MS), wait) : whenIdle.run(session, end);
    };
    wait();
    return () => forget();
  }
}
