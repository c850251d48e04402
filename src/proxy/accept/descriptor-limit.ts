// How many sessions one process has file descriptors for. A session needs two. A reserve is kept for probes, for the
// admin port and for over-limit connections, so that no number of clients can use it up. Pure.

import type { DescriptorBudget } from '../options.ts';

/** The open files of one process. */
export interface OpenFiles {
  readonly limit: number;
  readonly inUse: number;
}

/** Over-limit connections at one time, if descriptors are plenty. */
export const MAX_OVER_LIMIT = 256;
/** With room for fewer sessions the program does not start. */
export const MIN_SESSIONS = 16;

const ADMIN_DESCRIPTORS = 96;
/** For probes, /cluster, Kubernetes, files, and second connects that race the first. */
const MIN_OWN = 48;
const MAX_OWN = 352;

/** `inUse`: counted before anything listens. */
export function descriptorBudget({ limit, inUse }: OpenFiles): DescriptorBudget {
  const overLimit = clamp(limit / 16, 8, MAX_OVER_LIMIT);
  const own = clamp(limit / 8, MIN_OWN, MAX_OWN);
  // An over-limit connection whose cancel request is passed on needs two.
  const sessions = Math.floor((limit - inUse - own - ADMIN_DESCRIPTORS - 2 * overLimit) / 2);
  return { limit, sessions, overLimit };
}

function clamp(value: number, min: number, max: number): number {
  return Math.floor(Math.min(max, Math.max(min, value)));
}
