// Figures of a connect load during a change of primary, and the check that no write reached the wrong member.
import { expect } from 'vitest';
import { type Server, serverName } from '../clusters/server-name.ts';
import type { Attempt } from './connect-load.ts';

/**
 * Milliseconds. Tests print their figures and fail only beyond this: a busy machine is no fault of the proxy. The
 * tight limits are those of `npm run bench:failover`.
 */
export const GENEROUS_MS = 5000;

/**
 * Failures of the attempts that began after the fault. An earlier attempt may have been at the server already, in the
 * middle of its authentication or statement. No proxy can mend that, and a direct client meets it, too.
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

/** Only the old and the new primary took writes, and the old one took none after the first of the new one. */
export function assertOnlyPrimariesWrote(attempts: readonly Attempt[], old: Server, next: Server): void {
  const names = [serverName(old), serverName(next)];
  const written = attempts.filter((attempt) => attempt.server !== undefined);
  expect(written.filter((attempt) => !names.includes(attempt.server ?? ''))).toEqual([]);
  const firstOnNew = firstWriteOn(attempts, next);
  expect(written.filter((attempt) => attempt.server === names[0] && attempt.startedAtMs > firstOnNew)).toEqual([]);
}
