// The word for a member's place in a pool. The log, the page, `pointsman status`, `top` and `explain` have the same.
import { exclusionCause } from './describe.ts';
import type { Standing } from './standing.ts';

/** By the cause of the exclusion. */
const EXCLUDED: ReadonlyMap<string, string> = new Map([
  ['dead', 'down'],
  ['silent', 'no answer'],
  ['lagging', 'lag too high'],
  ['stale', 'data too old'],
  ['check_failed', 'fails the check'],
  ['operator', 'drained'],
  ['tagged_out', 'excluded by tag'],
  ['promoted', 'is the primary'],
  ['fallback_over', 'fallback only'],
]);

/** Other causes are words themselves: demoted, removed, old timeline, not primary. */
export function exclusionWord(cause: string): string {
  return EXCLUDED.get(cause) ?? cause.replaceAll('_', ' ');
}

/** `eligible`, `no new sessions`, `down`, `lag too high`, `data too old` */
export function placeWord(standing: Standing): string {
  if (standing.kind === 'open') return 'eligible';
  return standing.kind === 'keep' ? 'no new sessions' : exclusionWord(exclusionCause(standing) ?? 'excluded');
}
