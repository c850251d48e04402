// What a client reads when a session that was served ends between two messages: the reason as the greppable word, DETAIL why,
// HINT what to do. No addresses, as in every text for clients.
import { CLOSE_REASONS } from '../../model/close-reason.ts';
import type { BackendEnding, EndReason } from '../../model/close-reason.ts';
import { durationText } from '../../core/describe.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { ErrorFields } from '../../wire/error-response.ts';
import type { Activity } from '../../wire/session-follower.ts';

export function closeMessage(reason: EndReason, pool: PoolName, detail: string | undefined): ErrorFields {
  const { sqlState } = CLOSE_REASONS[reason];
  return { sqlState, message: `pointsman: ${sentence(reason, pool)} (${reason})`, detail, hint: hint(reason) };
}

export interface LossFacts {
  readonly ending: BackendEnding;
  readonly activity: Exclude<Activity, 'unknown'>;
  readonly pool: PoolName;
  readonly detail: string;
}

/**
 * For a client whose server ended without a word. 57P03 lets libpq try its next host; 57P01 is what PostgreSQL says to
 * an idle session; 08006 leaves open what became of the transaction.
 */
export function lossMessage({ ending, activity, pool, detail }: LossFacts): ErrorFields {
  const message = `pointsman: the server of pool "${pool}" ended the session (${ending})`;
  switch (activity) {
    case 'starting':
      return { sqlState: '57P03', message, detail, hint: 'The session had not begun. Connect again in a few seconds.' };
    case 'idle':
      return { sqlState: '57P01', message, detail, hint: hint(ending) };
    case 'busy':
    case 'in_transaction':
    case 'in_failed_transaction':
      return { sqlState: '08006', message, detail, hint: UNKNOWN_OUTCOME };
  }
}

/** DETAIL of it: how the member's server ended. `fatal`: the SQLSTATE that it gave. */
export function describeEnd(member: MemberName, ending: BackendEnding, fatal: string | undefined): string {
  if (fatal !== undefined) return `${member}: FATAL ${fatal}`;
  return `${member}: ${ending === 'backend_reset' ? 'the connection was reset' : 'the connection ended without a word'}`;
}

const UNKNOWN_OUTCOME =
  'A statement or a transaction was under way. Find out whether it took effect before you repeat it.';

/** DETAIL of `too_old`. */
export function describeAge(ageMs: number, maxAgeMs: number): string {
  return `it was open for ${durationText(ageMs)}; max_session_age is ${durationText(maxAgeMs)}, give or take a tenth`;
}

function sentence(reason: EndReason, pool: PoolName): string {
  if (reason === 'shutdown') return 'the proxy is shutting down';
  if (reason === 'landed_on_standby') return `the member of pool "${pool}" turned out to be a standby`;
  if (reason === 'too_old') return `the session has reached the age at which pool "${pool}" ends sessions`;
  return `the session's member left pool "${pool}"`;
}

function hint(reason: EndReason | BackendEnding): string {
  return reason === 'shutdown'
    ? 'No transaction was open. Connect to another proxy, or again in a few seconds.'
    : 'No transaction was open. Connect again: the next session goes where the pool is then.';
}
