// The closed list of reasons for the end of a client connection: one list for the log line, the metric label and the
// SQLSTATE that the client gets. Every accepted connection ends with exactly one of them.
import { MOVE_FAILURES } from './moves.ts';
import type { MoveFailure } from './moves.ts';

/** Why a member leaves a pool while it has live sessions: the keys of a pool's `on_leave`. */
export const LEAVE_CAUSES = [
  'dead',
  'demoted',
  'silent',
  'promoted',
  'lagging',
  'check_failed',
  'old_timeline',
  'tagged_out',
  'removed',
  'operator',
  'fallback_over',
] as const;
export type LeaveCause = (typeof LEAVE_CAUSES)[number];

/**
 * The causes that no setting governs, because an operation has its own limit: a switchover that holds clients, and a
 * restart that moves sessions.
 */
export const OPERATION_CAUSES = ['switchover', 'restart'] as const;
export type OperationCause = (typeof OPERATION_CAUSES)[number];

export type EvictionCause = LeaveCause | OperationCause;

/** The server of the session is about to stop, because an operator has asked for it. */
export function isOperation(cause: EvictionCause): cause is OperationCause {
  return OPERATION_CAUSES.some((operation) => operation === cause);
}

interface CloseReasonFacts {
  /** Sent while the client can still read an error. Undefined: no error is sent. */
  readonly sqlState: string | undefined;
  /** The side that ended the connection. */
  readonly side: 'client' | 'backend' | 'pointsman';
}

export const CLOSE_REASONS = {
  /** The ordinary end: the client ended the session and the backend followed. */
  client_closed: { sqlState: undefined, side: 'client' },
  client_reset: { sqlState: undefined, side: 'client' },
  /** The backend ended the session. Its error, if it sent one, was relayed. */
  backend_closed: { sqlState: undefined, side: 'backend' },
  backend_reset: { sqlState: undefined, side: 'backend' },
  /** The backend did not let the client in: it sent an error instead of a login, or closed without a word. */
  backend_refused: { sqlState: undefined, side: 'backend' },
  /** The client left while it was held or waited for a connect. */
  client_gave_up: { sqlState: undefined, side: 'client' },
  /** The client left without sending a byte: a load balancer's probe. */
  no_startup: { sqlState: undefined, side: 'client' },
  startup_timeout: { sqlState: '08P01', side: 'pointsman' },
  not_postgres: { sqlState: '08P01', side: 'client' },
  /** A second encryption request of one kind. PostgreSQL reads it as an unknown protocol version. */
  unsupported_protocol: { sqlState: '0A000', side: 'client' },
  /** Plain text where TLS is required. */
  tls_required: { sqlState: '28000', side: 'pointsman' },
  /** The TLS handshake failed, so no error can be sent. */
  tls_failed: { sqlState: undefined, side: 'client' },
  /** The client asked for an unknown pool. */
  unknown_pool: { sqlState: '3D000', side: 'client' },
  /** The client asked for a target that is neither a pool nor a branch. The list of branches was read for it. */
  unknown_branch: { sqlState: '3D000', side: 'client' },
  /** The branch is a root, which is production, or `branches.allow` excludes it. */
  branch_not_allowed: { sqlState: '28000', side: 'client' },
  /** Several branches have the name that the client asked for. */
  ambiguous_branch: { sqlState: '22023', side: 'client' },
  /** The list of branches does not have the target, and cannot be read now. */
  branches_unavailable: { sqlState: '57P03', side: 'pointsman' },
  /** The branch did not take the client in within `branches.connect.budget`, or its address is not configured. */
  branch_unreachable: { sqlState: '57P03', side: 'pointsman' },
  /** A CancelRequest was forwarded. Such a connection carries nothing else. */
  cancel_forwarded: { sqlState: undefined, side: 'pointsman' },
  /** A CancelRequest reached no member. */
  cancel_failed: { sqlState: undefined, side: 'pointsman' },
  too_many_sessions: { sqlState: '53300', side: 'pointsman' },
  hold_full: { sqlState: '53300', side: 'pointsman' },
  hold_timeout: { sqlState: '57P03', side: 'pointsman' },
  no_route: { sqlState: '57P03', side: 'pointsman' },
  connect_failed: { sqlState: '08006', side: 'pointsman' },
  /** The server reported at the start of the session that it takes no writes. */
  landed_on_standby: { sqlState: '57P03', side: 'pointsman' },
  evicted_dead: { sqlState: '57P01', side: 'pointsman' },
  evicted_demoted: { sqlState: '57P01', side: 'pointsman' },
  evicted_silent: { sqlState: '57P01', side: 'pointsman' },
  evicted_promoted: { sqlState: '57P01', side: 'pointsman' },
  evicted_lagging: { sqlState: '57P01', side: 'pointsman' },
  evicted_check_failed: { sqlState: '57P01', side: 'pointsman' },
  evicted_old_timeline: { sqlState: '57P01', side: 'pointsman' },
  evicted_tagged_out: { sqlState: '57P01', side: 'pointsman' },
  evicted_removed: { sqlState: '57P01', side: 'pointsman' },
  evicted_operator: { sqlState: '57P01', side: 'pointsman' },
  evicted_fallback_over: { sqlState: '57P01', side: 'pointsman' },
  /** A switchover is about to stop the server: between two transactions, or at the end of the time for them. */
  evicted_switchover: { sqlState: '57P01', side: 'pointsman' },
  evicted_switchover_timeout: { sqlState: '57P01', side: 'pointsman' },
  /** A restart is about to stop the server: between two transactions, or at the end of the time for them. */
  evicted_restart: { sqlState: '57P01', side: 'pointsman' },
  // A session that was to move to another server.
  move_login: { sqlState: '57P01', side: 'pointsman' },
  move_restore: { sqlState: '57P01', side: 'pointsman' },
  move_differs: { sqlState: '57P01', side: 'pointsman' },
  move_timeout: { sqlState: '57P01', side: 'pointsman' },
  move_uncovered: { sqlState: '57P01', side: 'pointsman' },
  /** Its outcome is unknown: transaction_resolution_unknown. */
  move_in_flight: { sqlState: '08007', side: 'pointsman' },
  /** The session reached its pool's `max_session_age`, between two transactions. */
  too_old: { sqlState: '57P01', side: 'pointsman' },
  /** An operator ended the session by its id. */
  killed_by_operator: { sqlState: '57P01', side: 'pointsman' },
  /** The process stops. A session without a backend is refused with 57P03, others end in the drain. */
  shutdown: { sqlState: '57P01', side: 'pointsman' },
  /** The worker process that served the session ended, and its sockets with it. */
  worker_died: { sqlState: undefined, side: 'pointsman' },
  /** An internal invariant broke, so the session was not trusted any more. */
  internal_error: { sqlState: 'XX000', side: 'pointsman' },
} as const satisfies Record<string, CloseReasonFacts>;

export type CloseReason = keyof typeof CLOSE_REASONS;

/** Reasons for which a client is refused with an error before it has a backend. */
const REFUSALS = [
  'startup_timeout',
  'not_postgres',
  'unsupported_protocol',
  'tls_required',
  'unknown_pool',
  'unknown_branch',
  'branch_not_allowed',
  'ambiguous_branch',
  'branches_unavailable',
  'branch_unreachable',
  'too_many_sessions',
  'hold_full',
  'hold_timeout',
  'no_route',
  'connect_failed',
  'backend_refused',
  'killed_by_operator',
  'shutdown',
  'internal_error',
] as const satisfies readonly CloseReason[];
export type RefusalReason = (typeof REFUSALS)[number];

/** Reasons for which Pointsman ends a relayed session; its client is told when it can be told. */
export type EndReason =
  | EvictionReason
  | MoveFailure
  | 'landed_on_standby'
  | 'too_old'
  | 'killed_by_operator'
  | 'shutdown';
export type EvictionReason = `evicted_${EvictionCause | 'switchover_timeout'}`;

/** How a server ends a relayed session. */
export type BackendEnding = 'backend_closed' | 'backend_reset';
/** How a relayed session ends by itself. */
export type RelayEnding = 'client_closed' | 'client_reset' | 'backend_refused' | BackendEnding;

export function isRefusal(reason: CloseReason): reason is RefusalReason {
  return REFUSALS.some((refusal) => refusal === reason);
}

export function isEndReason(reason: CloseReason): reason is EndReason {
  return mustEndAtOnce(reason) || reason === 'too_old' || reason === 'shutdown';
}

export function isMoveFailure(reason: CloseReason): reason is MoveFailure {
  return MOVE_FAILURES.some((failure) => failure === reason);
}

/** Where no message is sent, both connections are reset, so that both sides notice at once. */
export function mustEndAtOnce(
  reason: CloseReason,
): reason is EvictionReason | MoveFailure | 'landed_on_standby' | 'killed_by_operator' {
  if (isMoveFailure(reason)) return true;
  return reason.startsWith('evicted_') || reason === 'landed_on_standby' || reason === 'killed_by_operator';
}

export function evictionReason(cause: EvictionCause): EvictionReason {
  return `evicted_${cause}`;
}
