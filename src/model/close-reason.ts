// The closed list of reasons for the end of a client connection: one table for the log line, the metric label, the
// SQLSTATE that the client gets, and every question about a reason. Every accepted connection ends with exactly one.

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

/** Why a session moves. `rebalance`: to a member that came back, which has not its share of the open sessions. */
export type MoveCause = EvictionCause | 'rebalance';
export const MOVE_CAUSES: readonly MoveCause[] = [...LEAVE_CAUSES, ...OPERATION_CAUSES, 'rebalance'];

/** The server of the session is about to stop, because an operator has asked for it. */
export function isOperation(cause: EvictionCause): cause is OperationCause {
  return OPERATION_CAUSES.some((operation) => operation === cause);
}

interface CloseReasonFacts {
  /** The code of Pointsman's own error. Undefined: it sends none, or the code depends on the session's activity. */
  readonly sqlState: string | undefined;
  /** The side that ended the connection. */
  readonly side: 'client' | 'backend' | 'pointsman';
  /** `startup`: before the client has a server. `relayed`: afterwards. */
  readonly phase: 'startup' | 'relayed' | 'both';
  /**
   * When the client reads an error. `refused`: in `startup` alone. `idle`: between two transactions, and in `startup`.
   * `always`: during a statement, too. `by_server`: it reads what the server says, and ours if the server says nothing.
   */
  readonly told: 'never' | 'refused' | 'idle' | 'always' | 'by_server';
  /** Without a message both connections of a relayed session are reset, so that both sides notice at once. */
  readonly isReset: boolean;
  /** The level of its line in the log. */
  readonly level: 'debug' | 'info' | 'error';
  /** Its kind for operations and incidents. `ordinary`: no incident has it. `cut`: a session that was served ended. */
  readonly counts: 'ordinary' | 'refusal' | 'eviction' | 'move_failure' | 'cut';
}

const BY_CLIENT = {
  sqlState: undefined,
  side: 'client',
  phase: 'startup',
  told: 'never',
  isReset: false,
  level: 'debug',
  counts: 'ordinary',
} as const satisfies CloseReasonFacts;
const MISTAKE = { ...BY_CLIENT, told: 'refused' } as const;
const BY_SERVER = { ...BY_CLIENT, side: 'backend', phase: 'relayed', told: 'by_server', counts: 'cut' } as const;
const UNTOLD = { ...BY_CLIENT, side: 'pointsman', level: 'info' } as const;
const REFUSED = { ...UNTOLD, sqlState: '57P03', told: 'refused', counts: 'refusal' } as const;
const ENDED = { ...UNTOLD, sqlState: '57P01', phase: 'relayed', told: 'idle' } as const;
const EVICTED = { ...ENDED, isReset: true, counts: 'eviction' } as const;
const NOT_MOVED = { ...EVICTED, counts: 'move_failure' } as const;

export const CLOSE_REASONS = {
  /** The ordinary end: the client ended the session and the backend followed. */
  client_closed: { ...BY_CLIENT, phase: 'relayed' },
  client_reset: { ...BY_CLIENT, phase: 'both' },
  /** The client's host acknowledges nothing: neither bytes, for `client.tcp_user_timeout`, nor keepalives. */
  client_tcp_timeout: { ...BY_CLIENT, phase: 'relayed', level: 'info' },
  /** The backend ended the session. Its error, if it sent one, was relayed. */
  backend_closed: BY_SERVER,
  backend_reset: BY_SERVER,
  /** The same of the backend's host, by `backend.tcp_user_timeout`. */
  backend_tcp_timeout: BY_SERVER,
  /** The backend did not let the client in: it sent an error instead of a login, or closed without a word. */
  backend_refused: { ...BY_SERVER, sqlState: '57P03', phase: 'both', counts: 'refusal' },
  /** The client left while it was held or waited for a connect. */
  client_gave_up: BY_CLIENT,
  /** The client left without sending a byte: a load balancer's probe. */
  no_startup: BY_CLIENT,
  startup_timeout: { ...REFUSED, sqlState: '08P01', level: 'debug' },
  not_postgres: { ...MISTAKE, sqlState: '08P01' },
  /** A second encryption request of one kind. PostgreSQL reads it as an unknown protocol version. */
  unsupported_protocol: { ...MISTAKE, sqlState: '0A000' },
  /** Plain text where TLS is required. */
  tls_required: { ...REFUSED, sqlState: '28000' },
  /** The TLS handshake failed, so no error can be sent. It keeps clients out, and may be the operator's to fix. */
  tls_failed: { ...BY_CLIENT, level: 'info' },
  /** The client can bind its login, TLS is on both sides of Pointsman, and no verifier may be asked for. */
  login_unbound: { ...MISTAKE, sqlState: '28000', level: 'info' },
  /** The source of verifiers did not answer. */
  login_unchecked: REFUSED,
  /** A message of the login is broken. */
  login_malformed: { ...MISTAKE, sqlState: '08P01' },
  /** The server asked for the password, which would cross a network in plain text. */
  password_unencrypted: { ...MISTAKE, sqlState: '28000', level: 'info' },
  /** The client binds its login to another certificate than that of Pointsman: somebody is between the two. */
  binding_failed: { ...MISTAKE, sqlState: '28000', level: 'info' },
  /** The server did not prove that it knows the verifier of the role. */
  server_unproven: { ...REFUSED, sqlState: '28000', level: 'error' },
  /** The client asked for an unknown pool. */
  unknown_pool: { ...MISTAKE, sqlState: '3D000' },
  /** The client asked for a target that is neither a pool nor a branch. The list of branches was read for it. */
  unknown_branch: { ...MISTAKE, sqlState: '3D000' },
  /** The branch is a root, which is production, or `branches.allow` excludes it. */
  branch_not_allowed: { ...MISTAKE, sqlState: '28000' },
  /** Several branches have the name that the client asked for. */
  ambiguous_branch: { ...MISTAKE, sqlState: '22023' },
  /** The list of branches does not have the target, and cannot be read now. */
  branches_unavailable: REFUSED,
  /** The branch did not take the client in within `branches.connect.budget`, or its address is not configured. */
  branch_unreachable: REFUSED,
  /** A CancelRequest was forwarded. Such a connection carries nothing else. */
  cancel_forwarded: { ...UNTOLD, level: 'debug' },
  /** A CancelRequest reached no member. */
  cancel_failed: UNTOLD,
  /** Another Pointsman offered a CancelRequest, and no session here has its key. */
  cancel_offered: { ...UNTOLD, level: 'debug' },
  too_many_sessions: { ...REFUSED, sqlState: '53300' },
  hold_full: { ...REFUSED, sqlState: '53300' },
  hold_timeout: REFUSED,
  no_route: REFUSED,
  connect_failed: { ...REFUSED, sqlState: '08006' },
  /** The server reported at the start of the session that it takes no writes. */
  landed_on_standby: { ...ENDED, sqlState: '57P03', isReset: true, counts: 'cut' },
  /** The pool has `causal_reads`, and the stream cannot be read, so nothing can wait before a transaction. */
  causal_reads_unreadable: { ...ENDED, sqlState: '0A000', phase: 'both', isReset: true, counts: 'cut' },
  evicted_dead: EVICTED,
  evicted_demoted: EVICTED,
  evicted_silent: EVICTED,
  evicted_promoted: EVICTED,
  evicted_lagging: EVICTED,
  evicted_check_failed: EVICTED,
  evicted_old_timeline: EVICTED,
  evicted_tagged_out: EVICTED,
  evicted_removed: EVICTED,
  evicted_operator: EVICTED,
  evicted_fallback_over: EVICTED,
  /** A switchover is about to stop the server: between two transactions, or at the end of the time for them. */
  evicted_switchover: EVICTED,
  evicted_switchover_timeout: EVICTED,
  /** A restart is about to stop the server: between two transactions, or at the end of the time for them. */
  evicted_restart: EVICTED,
  /** The next server did not let the session in. */
  move_login: NOT_MOVED,
  /** The state of the session could not be set there. */
  move_restore: NOT_MOVED,
  /** The restored state is not the old one. */
  move_differs: NOT_MOVED,
  /** No next server within `moves.park_timeout`. */
  move_timeout: NOT_MOVED,
  /** The old server is lost, and may have confirmed what the next one does not have. */
  move_uncovered: NOT_MOVED,
  /** The old server is lost with a statement under way: transaction_resolution_unknown. */
  move_in_flight: { ...NOT_MOVED, sqlState: '08007', told: 'always' },
  /** The session reached its pool's `max_session_age`, between two transactions. */
  too_old: { ...ENDED, level: 'debug' },
  /** An operator ended the session by its id. */
  killed_by_operator: { ...ENDED, phase: 'both', told: 'always', isReset: true },
  /** The process stops. A client without a backend is refused with 57P03. */
  shutdown: { ...ENDED, phase: 'both' },
  /** The worker process that served the session ended, and its sockets with it. */
  worker_died: { ...UNTOLD, phase: 'both', counts: 'eviction' },
  /** An internal invariant broke, so the session was not trusted any more. */
  internal_error: { ...REFUSED, sqlState: 'XX000', phase: 'both', level: 'error', counts: 'cut' },
} as const satisfies Record<string, CloseReasonFacts>;

export type CloseReason = keyof typeof CLOSE_REASONS;
/** Those with these values in their columns. */
type ReasonWith<Columns extends Partial<CloseReasonFacts>> = {
  [Reason in CloseReason]: (typeof CLOSE_REASONS)[Reason] extends Columns ? Reason : never;
}[CloseReason];

/** Reasons for which a client is refused with an error before it has a backend. */
export type RefusalReason = ReasonWith<{ phase: 'startup' | 'both'; told: Exclude<CloseReasonFacts['told'], 'never'> }>;
/** Reasons for which Pointsman ends a relayed session; its client is told when it can be told. */
export type EndReason = ReasonWith<{ told: 'idle' | 'always' }>;
export type EvictionReason = ReasonWith<{ told: 'idle'; counts: 'eviction' }>;
/** Why a move failed, and its client was told so. */
export type MoveFailure = ReasonWith<{ counts: 'move_failure' }>;

/** How a server ends a relayed session. */
export type BackendEnding = 'backend_closed' | 'backend_reset' | 'backend_tcp_timeout';
/** How a relayed session ends by itself. */
export type RelayEnding = 'client_closed' | 'client_reset' | 'client_tcp_timeout' | 'backend_refused' | BackendEnding;

export function isRefusal(reason: CloseReason): reason is RefusalReason {
  const { phase, told } = CLOSE_REASONS[reason];
  return phase !== 'relayed' && told !== 'never';
}

export function isEndReason(reason: CloseReason): reason is EndReason {
  const { told } = CLOSE_REASONS[reason];
  return told === 'idle' || told === 'always';
}

export function isMoveFailure(reason: CloseReason): reason is MoveFailure {
  return CLOSE_REASONS[reason].counts === 'move_failure';
}

export const MOVE_FAILURES: readonly string[] = Object.entries(CLOSE_REASONS).flatMap(([reason, { counts }]) =>
  counts === 'move_failure' ? [reason] : [],
);

export function evictionReason(cause: EvictionCause): EvictionReason {
  return `evicted_${cause}`;
}
