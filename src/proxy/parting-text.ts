// What a client reads when a session that was served ends between two messages: the reason as the greppable word, DETAIL why,
// HINT what to do. No addresses, as in every text for clients.
import { CLOSE_REASONS } from '../core/close-reason.ts';
import type { CloseReason, LeaveCause } from '../core/close-reason.ts';
import { durationText } from '../core/describe.ts';
import type { PoolName } from '../core/policy.ts';
import type { ErrorFields } from '../wire/error-response.ts';

/** The reasons for which a served session is ended with words. */
export type PartingReason = Extract<
  CloseReason,
  `evicted-${LeaveCause}` | 'landed-on-standby' | 'too-old' | 'shutdown'
>;

export function partingText(reason: PartingReason, pool: PoolName, detail: string | undefined): ErrorFields {
  const { sqlState } = CLOSE_REASONS[reason];
  return { sqlState, message: `pointsman: ${sentence(reason, pool)} (${reason})`, detail, hint: hint(reason) };
}

/** DETAIL of `too-old`. */
export function describeAge(ageMs: number, maxAgeMs: number): string {
  return `it was open for ${durationText(ageMs)}; max_session_age is ${durationText(maxAgeMs)}, give or take a tenth`;
}

function sentence(reason: PartingReason, pool: PoolName): string {
  if (reason === 'shutdown') return 'the proxy is shutting down';
  if (reason === 'landed-on-standby') return `the member of pool "${pool}" turned out to be a standby`;
  if (reason === 'too-old') return `the session has reached the age at which pool "${pool}" ends sessions`;
  return `the session's member left pool "${pool}"`;
}

function hint(reason: PartingReason): string {
  return reason === 'shutdown'
    ? 'No transaction was open. Connect to another proxy, or again in a few seconds.'
    : 'No transaction was open. Connect again: the next session goes where the pool is then.';
}
