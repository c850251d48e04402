// How many sessions one process has file descriptors for. Two for each session, and enough apart from them that no
// number of clients can use up those for probes, for the admin port, and for telling clients why they are refused.
// Pure.

/** Of one process. */
export interface OpenFiles {
  readonly limit: number;
  readonly inUse: number;
}

export interface Room {
  /** The limit on open files. */
  readonly limit: number;
  /** At one time. May be negative: the limit is too low for anything. */
  readonly sessions: number;
  /** Clients over a bound that are heard and told why, at one time. */
  readonly visitors: number;
}

/** At one time, where descriptors are plenty. */
export const MOST_VISITORS = 256;
/** Room for fewer is not worth a start. */
export const LEAST_SESSIONS = 16;

const MOST_ADMIN = 64;
/** Probes, /cluster, Kubernetes, files that are read, a second connect that races the first. */
const LEAST_OWN = 64;
const MOST_OWN = 384;

/** `inUse`: before anything listens. */
export function roomIn({ limit, inUse }: OpenFiles): Room {
  const visitors = within(limit / 16, 8, MOST_VISITORS);
  const own = within(limit / 8, LEAST_OWN, MOST_OWN);
  // A visitor whose cancel request is passed on has two.
  const sessions = Math.floor((limit - inUse - own - MOST_ADMIN - 2 * visitors) / 2);
  return { limit, sessions, visitors };
}

function within(value: number, least: number, most: number): number {
  return Math.floor(Math.min(most, Math.max(least, value)));
}
