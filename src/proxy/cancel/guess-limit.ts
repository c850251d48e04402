// How often cancel requests with unknown keys may be passed on at one listener: each costs the members connections. An
// address that guesses without end uses up the common part; an address that has not guessed for a second has a part
// besides, so that it cannot be shut out by another one. Time is an argument; holds no timer.
import type { Instant } from '../../model/instant.ts';
import { TokenBucket } from '../token-bucket.ts';

/** Since its last guess an address counts as one that rarely guesses. Milliseconds. */
const RARE_MS = 1_000;
/** Addresses that are remembered; of more the oldest is forgotten, which lets it guess sooner. */
const MOST_ADDRESSES = 1_024;

export class GuessLimit {
  readonly #common: TokenBucket;
  readonly #rare: TokenBucket;
  readonly #guessedAt = new Map<string, Instant>();

  /** `perSecond`: of each of the two parts, and as many at once. */
  constructor(perSecond: number, now: Instant) {
    this.#common = new TokenBucket(perSecond, now, perSecond);
    this.#rare = new TokenBucket(perSecond, now, perSecond);
  }

  /** `address`: of the client that guesses, without its port. */
  take(address: string, now: Instant): boolean {
    const isRare = now - (this.#guessedAt.get(address) ?? -Infinity) >= RARE_MS;
    const mayGuess = this.#common.take(now) === 0 || (isRare && this.#rare.take(now) === 0);
    if (mayGuess) this.#remember(address, now);
    return mayGuess;
  }

  #remember(address: string, now: Instant): void {
    this.#guessedAt.delete(address);
    this.#guessedAt.set(address, now);
    if (this.#guessedAt.size <= MOST_ADDRESSES) return;
    for (const oldest of this.#guessedAt.keys()) {
      this.#guessedAt.delete(oldest);
      return;
    }
  }
}
