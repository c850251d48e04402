// Limits the cancel requests with unknown keys that are passed on at one listener: each costs the members connections.
// An address that guesses without end uses up the common part. An address that guesses rarely has a second part, so no
// other address can shut it out. Time is an argument; there is no timer.
import type { Instant } from '../../model/instant.ts';
import { TokenBucket } from '../token-bucket.ts';

/** An address whose last guess is at least this old counts as rare. Milliseconds. */
const RARE_MS = 1_000;
/** Addresses that are remembered. The oldest of more is forgotten, and may then guess sooner. */
const MOST_ADDRESSES = 1_024;

export class GuessLimit {
  readonly #common: TokenBucket;
  readonly #rare: TokenBucket;
  readonly #guessedAt = new Map<string, Instant>();

  /** `perSecond`: the limit of each of the two parts, and their burst. */
  constructor(perSecond: number, now: Instant) {
    this.#common = new TokenBucket(perSecond, now, perSecond);
    this.#rare = new TokenBucket(perSecond, now, perSecond);
  }

  /** `address`: the client's, without its port. */
  take(address: string, now: Instant): boolean {
    const isRare = now - (this.#guessedAt.get(address) ?? -Infinity) >= RARE_MS;
    const mayGuess = this.#common.take(now) === 0 || (isRare && this.#rare.take(now) === 0);
    if (mayGuess) this.#remember(address, now);
    return mayGuess;
  }

  #remember(address: string, now: Instant): void {
    this.#guessedAt.delete(address);
    this.#guessedAt.set(address, now);
    const [oldest = address] = this.#guessedAt.keys();
    if (this.#guessedAt.size > MOST_ADDRESSES) this.#guessedAt.delete(oldest);
  }
}
