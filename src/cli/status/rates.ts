// Rates of the counters in /status, from two looks at it. Pure.
import { sizeText } from '../../model/check.ts';
import { BRANCHES_POOL } from '../../model/branch.ts';
import type { Status, StatusPool } from './read-status.ts';

/** `at`: milliseconds of any clock. */
export interface Look {
  readonly at: number;
  readonly status: Status;
}

/** All per second. */
export interface PoolRates {
  readonly accepted: number;
  readonly closed: number;
  readonly toBackendBytes: number;
  readonly toClientBytes: number;
}

/** A pool, or the sessions on branches. */
export type CountedPool = Pick<StatusPool, 'name' | 'sessions'>;

export function countedIn({ pools, branches }: Status): readonly CountedPool[] {
  return branches === undefined ? pools : [...pools, { name: BRANCHES_POOL, sessions: branches.sessions }];
}

/** Undefined without an earlier look at the same process. */
export function ratesOf(pool: CountedPool, before: Look | undefined, now: Look): PoolRates | undefined {
  if (before === undefined || before.status.uptime_seconds > now.status.uptime_seconds) return undefined;
  const earlier = countedIn(before.status).find(({ name }) => name === pool.name)?.sessions;
  const { sessions } = pool;
  const seconds = (now.at - before.at) / 1000;
  if (!earlier || sessions === null || seconds <= 0) return undefined;
  const rate = (current: number, previous: number): number => Math.max(0, current - previous) / seconds;
  return {
    accepted: rate(sessions.accepted, earlier.accepted),
    closed: rate(sessions.closed, earlier.closed),
    toBackendBytes: rate(sessions.to_backend_bytes, earlier.to_backend_bytes),
    toClientBytes: rate(sessions.to_client_bytes, earlier.to_client_bytes),
  };
}

/** `0`, `2.5`, `120` */
export function rateText(rate: number | undefined): string {
  if (rate === undefined) return '–';
  return rate < 10 ? `${Number(rate.toFixed(1))}` : `${Math.round(rate)}`;
}

/** `32.2 MB/s` */
export function bytesRateText(rate: number | undefined): string {
  return rate === undefined ? '–' : `${sizeText(Math.round(rate))}/s`;
}
