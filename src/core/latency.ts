// How fast the members of a pool answer, for `balance: latency`: an estimate from observed times, and the part of its
// weight that each member gets for it. Instants and durations are arguments, in milliseconds.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';

/**
 * A mean of logarithms: one report of an hour beside queries of a millisecond makes no member slow. `count`: how many
 * observations it stands for at `at`.
 */
export interface Estimate {
  readonly count: number;
  /** Adds up the logarithms of milliseconds. */
  readonly sum: number;
  readonly at: Instant;
}

/** Estimates of one member in a pool. Undefined: nothing was observed. */
export interface LatencyEstimates {
  readonly requests: Estimate | undefined;
  readonly logins: Estimate | undefined;
}

/** The estimates as they are shown, of one process or of all together, and the share that follows. */
export interface MemberLatency {
  /** From a request to the first byte of its reply. Undefined: none was observed. Milliseconds. */
  readonly requestMs: number | undefined;
  /** From the start of the connect to the first byte of the server's answer to the login. Milliseconds. */
  readonly loginMs: number | undefined;
  /** When the newest observation came. Undefined: there is none. */
  readonly at: Instant | undefined;
  /** The part of its weight that the member has for new sessions. */
  readonly share: number;
}

/** An estimate stands for no more than its newest observations: a busy member that becomes slow is known at once. */
const MOST = 64;
/** After this time without news an estimate stands for a third of its observations (1/e). */
export const AGES_MS = 10_000;
/** So many observations of the pool's fastest member are assumed of everyone: few of its own decide nothing. */
const ASSUMED = 2;
/** Less than a clock, a kernel and a network tell apart. */
const SHORTEST_MS = 0.01;
/** A difference that is small beside this makes nobody slow. */
const FLOOR_MS = { requests: 0.25, logins: 5 };
/** A member keeps at least this part, however slow it is. */
const LEAST_SHARE = 0.001;

export function withObservation(before: Estimate | undefined, durationMs: number, now: Instant): Estimate {
  const known = before === undefined ? { count: 0, sum: 0 } : aged(before, now);
  const kept = known.count > MOST - 1 ? (MOST - 1) / known.count : 1;
  return {
    count: known.count * kept + 1,
    sum: known.sum * kept + Math.log(Math.max(SHORTEST_MS, durationMs)),
    at: now,
  };
}

/** The time that it stands for: a geometric mean. Milliseconds. */
export function estimatedMs({ count, sum }: Estimate): number {
  return Math.exp(sum / count);
}

/**
 * The part of its weight that each member gets, above 0 and at most 1: a member that is twice as slow as the fastest
 * gets a quarter. The slower of requests and logins decides. A member without fresh observations counts as the fastest.
 */
export function latencyShares(
  members: ReadonlyMap<MemberName, LatencyEstimates>,
  now: Instant,
): ReadonlyMap<MemberName, number> {
  const all = [...members];
  const requests = slowness(
    all.map(([, observed]) => observed.requests),
    FLOOR_MS.requests,
    now,
  );
  const logins = slowness(
    all.map(([, observed]) => observed.logins),
    FLOOR_MS.logins,
    now,
  );
  return new Map(
    all.map(([member], index) => {
      const slower = Math.max(requests[index] ?? 1, logins[index] ?? 1);
      return [member, Math.max(LEAST_SHARE, slower ** -2)];
    }),
  );
}

/** How many times slower than the fastest each is, at least 1. */
function slowness(estimates: readonly (Estimate | undefined)[], floorMs: number, now: Instant): readonly number[] {
  const known = estimates.map((one) => one && { ms: estimatedMs(one), trust: trust(aged(one, now).count) });
  // An old time measures the others less and less.
  const fastestMs = Math.min(...known.map((one) => (one === undefined ? Infinity : one.ms / one.trust)));
  return known.map((one) => {
    if (one === undefined || fastestMs === Infinity) return 1;
    const ms = fastestMs * (one.ms / fastestMs) ** one.trust;
    return Math.max(1, (ms + floorMs) / (fastestMs + floorMs));
  });
}

function trust(count: number): number {
  return count / (count + ASSUMED);
}

function aged({ count, sum, at }: Estimate, now: Instant): { readonly count: number; readonly sum: number } {
  const left = Math.exp(Math.min(0, at - now) / AGES_MS);
  return { count: count * left, sum: sum * left };
}
