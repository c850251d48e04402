// Ends sessions for reasons that can wait: each between two of its transactions, and not too many in a second, because all of
// them connect again. What cannot be read is never between two, and is left to the caller's deadline.
import type { Clock } from '../../model/instant.ts';
import { TokenBucket } from '../token-bucket.ts';

export interface Drainable {
  /** Between two transactions at this moment. */
  isIdle(): boolean;
  /**
   * How long its client, which has just logged in, is left to send its first statement. Milliseconds; 0: not any more.
   */
  settlesInMs(): number;
  /** Calls `run` whenever that begins. Returns what ends the calls; idempotent. */
  onIdle(run: () => void): () => void;
}

interface Wish {
  readonly session: Drainable;
  readonly end: () => void;
}

export class WhenIdle {
  readonly #clock: Clock;
  #perSecond: number;
  #bucket: TokenBucket;
  /** They were idle when they came in here. */
  readonly #queue = new Set<Wish>();
  /** Their clients are left some time; what ends the wait. */
  readonly #settling = new Map<Wish, () => void>();
  #cancelPump: () => void = () => {};

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#bucket = this.#newBucket();
  }

  /** Another rate from now on; the same changes nothing. */
  pace(perSecond: number): void {
    if (perSecond === this.#perSecond) return;
    this.#perSecond = perSecond;
    this.#bucket = this.#newBucket();
    this.#pump();
  }

  /** Runs `end` once, when the session is idle: in this step if it may. Returns what takes the wish back; idempotent. */
  run(session: Drainable, end: () => void): () => void {
    const wish: Wish = { session, end };
    const enqueue = (): void => {
      this.#settling.get(wish)?.();
      this.#settling.delete(wish);
      const waitMs = session.settlesInMs();
      if (waitMs > 0) return void this.#settling.set(wish, this.#clock.schedule(waitMs, enqueue));
      this.#queue.add(wish);
      return this.#pump();
    };
    const stopListening = session.onIdle(enqueue);
    if (session.isIdle()) enqueue();
    return () => {
      stopListening();
      this.#settling.get(wish)?.();
      this.#settling.delete(wish);
      this.#queue.delete(wish);
    };
  }

  stop(): void {
    this.#cancelPump();
    for (const cancel of this.#settling.values()) cancel();
    this.#settling.clear();
    this.#queue.clear();
  }

  /** A second's worth may end at once. */
  #newBucket(): TokenBucket {
    return new TokenBucket(this.#perSecond, this.#clock.now(), this.#perSecond);
  }

  readonly #pump = (): void => {
    this.#cancelPump();
    for (const wish of this.#queue) {
      const waitMs = wish.session.isIdle() ? this.#bucket.take(this.#clock.now()) : 0;
      if (waitMs > 0) {
        this.#cancelPump = this.#clock.schedule(waitMs, this.#pump);
        return;
      }
      this.#queue.delete(wish);
      // Who is busy again comes back by itself.
      if (wish.session.isIdle()) wish.end();
    }
  };
}
