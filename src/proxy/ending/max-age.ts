// Ends sessions that have lived for as long as their pool allows, so that a member that came back gets its share of a
// load that never reconnects by itself. It ends them between two transactions only: a session that cannot be read
// (TLS between client and member) is left alone.
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { SessionHandle } from '../stage.ts';
import { describeAge } from '../messages/close-message.ts';
import type { Drains } from './drains.ts';

export interface MaxAgeInputs {
  readonly clock: Clock;
  readonly drains: Drains;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** Either way, so that sessions that began together do not end together. */
const JITTER = 0.1;

export class MaxAge {
  readonly #inputs: MaxAgeInputs;

  constructor(inputs: MaxAgeInputs) {
    this.#inputs = inputs;
  }

  /** The session begins now. Returns the cancel function, which is idempotent. */
  watch(session: SessionHandle, maxAgeMs: number | undefined): () => void {
    if (maxAgeMs === undefined) return nothing;
    const { clock, drains, random } = this.#inputs;
    const startedAt = clock.now();
    const end = (): void => session.end('too_old', describeAge(clock.now() - startedAt, maxAgeMs));
    let cancel = nothing;
    const reached = (): void => {
      cancel = drains.whenIdle(session, end);
    };
    cancel = clock.schedule(maxAgeMs * (1 - JITTER + 2 * JITTER * random()), reached);
    return () => cancel();
  }
}
