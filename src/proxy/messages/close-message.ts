// The message to a client when its relayed session ends between two messages: the reason code ends the message, DETAIL
// has the cause, HINT the remedy. No text contains an address.
import { CLOSE_REASONS, isMoveFailure } from '../../model/close-reason.ts';
import type { BackendEnding, EndReason, EvictionReason, MoveFailure } from '../../model/close-reason.ts';
import { durationText } from '../../core/describe.ts';
import type { PoolName } from '../../model/policy.ts';
import type { ErrorFields } from '../../wire/messages/error-response.ts';
import type { Activity } from '../../wire/follow/session-follower.ts';

export interface EndFacts {
  readonly pool: PoolName;
  readonly detail: string | undefined;
  readonly activity: Exclude<Activity, 'unknown'>;
}

export function closeMessage(reason: EndReason, { pool, detail, activity }: EndFacts): ErrorFields {
  const { sqlState } = CLOSE_REASONS[reason];
  return {
    sqlState,
    message: `pointsman: ${sentence(reason, pool)} (${reason})`,
    detail,
    hint: reason === 'killed_by_operator' ? KILLED_HINTS[activity] : hint(reason),
  };
}

const UNKNOWN_OUTCOME =
  'A statement or transaction was in progress. Check whether it took effect before you repeat it.';
const ROLLED_BACK = 'The open transaction is rolled back.';
const CONNECT_AGAIN = 'No transaction was open. Connect again.';

/** A killed session is told in every state, as PostgreSQL tells it after pg_terminate_backend. */
const KILLED_HINTS: Readonly<Record<EndFacts['activity'], string>> = {
  starting: 'The session had not started.',
  idle: 'No transaction was open.',
  in_transaction: ROLLED_BACK,
  in_failed_transaction: ROLLED_BACK,
  busy: UNKNOWN_OUTCOME,
};

export interface LossFacts {
  readonly ending: BackendEnding;
  readonly activity: Exclude<Activity, 'unknown'>;
  /** `pool "write"`, `branch "pr-1"` */
  readonly serves: string;
  readonly detail: string;
}

const LOST_IN_PROGRESS = { sqlState: '08006', hint: UNKNOWN_OUTCOME };
/**
 * With 57P03 libpq tries its next host; 57P01 is PostgreSQL's code for an idle session; with 08006 the outcome of the
 * transaction is unknown.
 */
const LOSSES: Readonly<Record<EndFacts['activity'], Pick<ErrorFields, 'sqlState' | 'hint'>>> = {
  starting: { sqlState: '57P03', hint: 'The session had not started. Connect again in a few seconds.' },
  idle: { sqlState: '57P01', hint: CONNECT_AGAIN },
  in_transaction: LOST_IN_PROGRESS,
  in_failed_transaction: LOST_IN_PROGRESS,
  busy: LOST_IN_PROGRESS,
};

/** For a client whose server closed the connection without an error message. */
export function lossMessage({ ending, activity, serves, detail }: LossFacts): ErrorFields {
  const how = ending === 'backend_tcp_timeout' ? 'has vanished' : 'closed the connection';
  const message = `pointsman: the server of ${serves} ${how} (${ending})`;
  return { ...LOSSES[activity], message, detail };
}

/** `FATAL 53300`. Undefined: the server closed without a word. */
export function describeRefused(sqlState: string | undefined): string {
  return sqlState === undefined ? 'connection closed by the server without an error message' : `FATAL ${sqlState}`;
}

const ENDED_BY: Readonly<Record<BackendEnding, string>> = {
  backend_closed: describeRefused(undefined),
  backend_reset: 'connection reset by the server',
  backend_tcp_timeout: 'the host of the server acknowledges no packet',
};

/** DETAIL: how the server closed the connection. `server`: `pg-1`. `fatal`: the SQLSTATE it sent. */
export function describeEnd(server: string, ending: BackendEnding, fatal: string | undefined): string {
  return `${server}: ${fatal === undefined ? ENDED_BY[ending] : describeRefused(fatal)}`;
}

/** DETAIL of `too_old`. */
export function describeAge(ageMs: number, maxAgeMs: number): string {
  const limit = `max_session_age is ${durationText(maxAgeMs)} (varied by up to 10 %)`;
  return `the session lasted ${durationText(ageMs)}; ${limit}`;
}

const EVICTED: Readonly<Record<EvictionReason, string>> = {
  evicted_dead: 'the server is down',
  evicted_silent: 'the server does not respond',
  evicted_demoted: 'the server is no longer the primary',
  evicted_promoted: 'the server has become the primary',
  evicted_lagging: 'the server lags too far behind',
  evicted_check_failed: 'the server fails the check of the pool',
  evicted_old_timeline: "the server is not on the primary's timeline",
  evicted_tagged_out: 'the server was excluded by its tags',
  evicted_removed: 'the server has left the cluster',
  evicted_operator: 'the server is being drained',
  evicted_switchover: 'the server is about to hand over to another primary',
  evicted_switchover_timeout: 'the server is about to hand over to another primary',
  evicted_restart: 'the server is about to restart',
  evicted_fallback_over: 'the pool has its own members again',
};

const NOT_MOVED: Readonly<Record<MoveFailure, string>> = {
  move_login: 'the next server did not let the session in',
  move_restore: 'the next server did not take over the state of the session',
  move_differs: 'the state of the session would have changed on the next server',
  move_timeout: 'no next server in time',
  move_uncovered: 'the next server may lack what the last one had confirmed or shown',
  move_in_flight: 'the server was lost with a statement in progress',
};

function sentence(reason: EndReason, pool: PoolName): string {
  if (isMoveFailure(reason)) return `terminating connection: ${NOT_MOVED[reason]}`;
  if (reason === 'shutdown') return 'the proxy is shutting down';
  if (reason === 'landed_on_standby') return `the server of pool "${pool}" is a standby`;
  if (reason === 'killed_by_operator') return 'terminating connection: an operator ended the session';
  if (reason === 'causal_reads_unreadable') return 'causal_reads needs a stream that the proxy can read';
  if (reason === 'too_old') return `terminating connection: maximum session age of pool "${pool}" reached`;
  return `terminating connection: ${EVICTED[reason]}`;
}

function hint(reason: EndReason): string {
  if (reason === 'move_in_flight') return UNKNOWN_OUTCOME;
  if (reason === 'move_uncovered') {
    return 'No transaction was open. Check whether the last ones are still there before you go on.';
  }
  return reason === 'shutdown'
    ? 'No transaction was open. Connect to another proxy, or connect again in a few seconds.'
    : CONNECT_AGAIN;
}
