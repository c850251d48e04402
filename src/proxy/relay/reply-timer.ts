// Measures the time from a request of the client to the first byte of the reply, for `balance: latency`. The clock is
// read once for a request and once for its reply. Requests that are sent ahead belong to the first one.
import type { Clock, Instant } from '../../model/instant.ts';
import type { SessionFollower } from '../../wire/follow/session-follower.ts';
import type { Taps } from './directions.ts';

export interface ReplyTimerOptions {
  readonly follower: Pick<SessionFollower, 'isReplyDue'>;
  readonly clock: Pick<Clock, 'now'>;
  /** A reply has come, `durationMs` after its request. */
  readonly onReply: (durationMs: number, now: Instant) => void;
}

export class ReplyTimer implements Taps {
  readonly #inner: Taps;
  readonly #options: ReplyTimerOptions;
  #sentAt: Instant | undefined;

  /** `inner`: sees every byte as well. The follower is told by it. */
  constructor(inner: Taps, options: ReplyTimerOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  fromClient(chunk: Uint8Array): number | undefined {
    const { follower, clock } = this.#options;
    const isFirst = !follower.isReplyDue();
    const passing = this.#inner.fromClient(chunk);
    if (isFirst && follower.isReplyDue()) this.#sentAt = clock.now();
    return passing;
  }

  fromBackend(chunk: Uint8Array): boolean {
    const sentAt = this.#sentAt;
    if (sentAt !== undefined) {
      this.#sentAt = undefined;
      const now = this.#options.clock.now();
      this.#options.onReply(now - sentAt, now);
    }
    return this.#inner.fromBackend(chunk);
  }

  passedToClient(): void {
    this.#inner.passedToClient();
  }
}
