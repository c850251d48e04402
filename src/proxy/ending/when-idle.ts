// Ends sessions one by one, each between two of its transactions, and only so many in a second: all of their clients
// connect again. A session that cannot be read is never seen to be idle: the deadline of its drain ends it.
import type { Clock } from '../../model/instant.ts';
import { TokenBucket } from '../token-bucket.ts';

/** A session that may be ended when it is idle. */
export interface Drainable {
  /** Between two transactions at this moment. */
  isIdle(): boolean;
  /** How long a client that has just logged in is left to send its first statement. Milliseconds, 0 after it. */
  settlesInMs(): number;
  /** Calls `run` whenever the session becomes idle. Returns the function that stops the calls; it is idempotent. */
  onIdle(run: () => void): () => void;
}

interface PendingEnd {
  readonly session: Drainable;
  readonly end: () => void;
  stopListening: () => void;
}

export class WhenIdle {
  readonly #clock: Clock;
  #perSecond: number;
  #bucket: TokenBucket;
  /** Their sessions were idle when they were added. */
  readonly #queue = new Set<PendingEnd>();
  /** Their clients have just logged in. The value cancels the wait. */
  readonly #settling = new Map<PendingEnd, () => void>();
  #cancelPump: () => void = () => {};

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#bucket = this.#newBucket();
  }

  /** Sets another limit. The same limit changes nothing. */
  pace(perSecond: number): void {
    if (perSecond === this.#perSecond) return;
    this.#perSecond = perSecond;
    this.#bucket = this.#newBucket();
    this.#pump();
  }

  /** Calls `end` once, when the session is idle: synchronously when it is now. Returns the cancel function. */
  run(session: Drainable, end: () => void): () => void {
    const pending: PendingEnd = { session, end, stopListening: () => {} };
    const enqueue = (): void => {
      this.#settling.get(pending)?.();
      this.#settling.delete(pending);
      const waitMs = session.settlesInMs();
      if (waitMs > 0) return void this.#settling.set(pending, this.#clock.schedule(waitMs, enqueue));
      this.#queue.add(pending);
      return this.#pump();
    };
    pending.stopListening = session.onIdle(enqueue);
    if (session.isIdle()) enqueue();
    return () => {
      pending.stopListening();
      this.#settling.get(pending)?.();
      this.#settling.delete(pending);
      this.#queue.delete(pending);
    };
  }

  stop(): void {
    this.#cancelPump();
    for (const cancel of this.#settling.values()) cancel();
    this.#settling.clear();
    this.#queue.clear();
  }

  /** As many as may end in a second may end at once. */
  #newBucket(): TokenBucket {
    return new TokenBucket(this.#perSecond, this.#clock.now(), this.#perSecond);
  }

  readonly #pump = (): void => {
    this.#cancelPump();
    for (const pending of this.#queue) {
      const waitMs = pending.session.isIdle() ? this.#bucket.take(this.#clock.now()) : 0;
      if (waitMs > 0) {
        this.#cancelPump = this.#clock.schedule(waitMs, this.#pump);
        return;
      }
      this.#queue.delete(pending);
      // A session that is busy again is added again when it is idle.
      if (!pending.session.isIdle()) continue;
      pending.stopListening();
      pending.end();
    }
  };
}
