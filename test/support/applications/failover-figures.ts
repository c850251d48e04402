// What a connect load went through while the primary changed: figures and the judgement that no write went astray.
import { expect } from 'vitest';
import { type Server, serverName } from '../clusters/server-name.ts';
import type { Attempt } from './connect-load.ts';

/**
 * Milliseconds. Tests print their figures and fail only beyond this: a busy machine is no fault of the proxy. The tight bounds are those
 * of `npm run bench:failover`.
 */
export const GENEROUS_MS = 5000;

/**
 * What failed of the attempts begun after the fault. Those begun before it may have been with the server already, in the middle
 * of their authentication or of their statement, when it went: that no proxy can mend, and a direct client meets it, too.
 */
export function failedAfter(attempts: readonly Attempt[], faultAtMs: number): string[] {
  return attempts.filter((attempt) => attempt.startedAtMs > faultAtMs).flatMap((attempt) => attempt.error ?? []);
}

export function cutByTheFault(attempts: readonly Attempt[], faultAtMs: number): string[] {
  return attempts.filter((attempt) => attempt.startedAtMs <= faultAtMs).flatMap((attempt) => attempt.error ?? []);
}

/** When the first write through the proxy on that server was acknowledged. */
export function firstWriteOn(attempts: readonly Attempt[], server: Server): number {
  const name = serverName(server);
  return Math.min(...attempts.filter((attempt) => attempt.server === name).map((attempt) => attempt.endedAtMs));
}

/** Each write was taken by the old primary or by the new one, and none by the old one after the new one took its first. */
export function assertOnlyPrimariesWrote(attempts: readonly Attempt[], old: Server, next: Server): void {
  const names = [serverName(old), serverName(next)];
  const written = attempts.filter((attempt) => attempt.server !== undefined);
  expect(written.filter((attempt) => !names.includes(attempt.server ?? ''))).toEqual([]);
  const firstOnNew = firstWriteOn(attempts, next);
  expect(written.filter((attempt) => attempt.server === names[0] && attempt.startedAtMs > firstOnNew)).toEqual([]);
}
