// Ends sessions one by one, each between two of its transactions, and only so many in a second: all of their clients
// connect again. A session that cannot be read is never seen to be idle: the deadline of its drain ends it.
import type { Clock } from '../../model/instant.ts';
import type { SessionHandle } from '../stage.ts';
import { TokenBucket } from '../token-bucket.ts';

interface PendingEnd {
  readonly session: SessionHandle;
  readonly end: () => void;
  readonly mayEnd: () => boolean;
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

  /**
   * Calls `end` once, when the session is idle: synchronously when it is now. Returns the cancel function. `mayEnd`:
   * the session may end in more states than that.
   */
  run(session: SessionHandle, end: () => void, mayEnd = (): boolean => session.isIdle()): () => void {
    const pending: PendingEnd = { session, end, mayEnd, stopListening: () => {} };
    const enqueue = (): void => {
      this.#settling.get(pending)?.();
      this.#settling.delete(pending);
      const waitMs = session.settlesInMs();
      if (waitMs > 0) return void this.#settling.set(pending, this.#clock.schedule(waitMs, enqueue));
      this.#queue.add(pending);
      return this.#pump();
    };
    pending.stopListening = session.onIdle(enqueue);
    if (mayEnd()) enqueue();
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
      const waitMs = pending.mayEnd() ? this.#bucket.take(this.#clock.now()) : 0;
      if (waitMs > 0) {
        this.#cancelPump = this.#clock.schedule(waitMs, this.#pump);
        return;
      }
      this.#queue.delete(pending);
      // A session that is busy again is added again when it is idle.
      if (!pending.mayEnd()) continue;
      pending.stopListening();
      pending.end();
    }
  };
}
