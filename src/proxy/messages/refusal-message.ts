// The error that a refused client reads: one message per reason, with the reason code at its end; DETAIL gives the
// facts, HINT the remedy. No text contains an address, because the reader has not authenticated.
import { BRANCHES_POOL } from '../../model/branch.ts';
import { CLOSE_REASONS, type RefusalReason } from '../../model/close-reason.ts';
import { describeMembers, durationText } from '../../core/describe.ts';
import type { Instant } from '../../model/instant.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import type { PoolDecision } from '../../core/routing-table.ts';
import { encodeErrorResponse, type ErrorFields } from '../../wire/messages/error-response.ts';
import type { PoolRequest } from '../../wire/startup/pool-request.ts';
import { servedText } from '../server.ts';

const EXPLAIN = '`pointsman explain` on the proxy host shows why each member is excluded.';
const LIST = '`pointsman branches list` shows the branches.';
const EXPLAIN_BRANCH = '`pointsman branches explain` on the proxy host shows where the branch is and why.';

export interface RefusalFacts {
  readonly pool: PoolPolicy;
  /** The name of the branch that the client asked for, where there is one. */
  readonly branch?: string | undefined;
  readonly decision: PoolDecision | undefined;
  readonly now: Instant;
  /** Time on hold. */
  readonly waitedMs: number;
  /** The facts of this one refusal: the limit that was reached, the last failed connect. */
  readonly detail: string | undefined;
  /** Where the client named its pool, if it did. */
  readonly targetFrom?: PoolRequest['from'] | undefined;
}

/** As PostgreSQL answers during its own shutdown: libpq tries its next host, pg_isready prints "rejecting". */
const CANNOT_CONNECT_NOW = '57P03';

export function refusalMessage(reason: RefusalReason, facts: RefusalFacts): ErrorFields {
  const { detail, pool, decision, now } = facts;
  const isAboutMembers = ABOUT_MEMBERS.has(reason) && pool.name !== BRANCHES_POOL;
  return {
    sqlState: reason === 'shutdown' ? CANNOT_CONNECT_NOW : CLOSE_REASONS[reason].sqlState,
    message: `pointsman: ${wordsOf(SENTENCES[reason], facts)} (${reason})`,
    detail: isAboutMembers ? join(detail, describeMembers(decision, now)) : detail,
    hint: wordsOf(HINTS[reason], facts),
  };
}

/** The message as bytes on the wire. */
export function encodeRefusal(reason: RefusalReason, facts: RefusalFacts): Uint8Array {
  return encodeErrorResponse(refusalMessage(reason, facts));
}

const HTTP_TEXT = `pointsman: this port serves the PostgreSQL protocol, not HTTP (not-postgres).
Health, metrics and status are on the admin address.
`;
/** The answer to a browser, a health check or a scraper on this port. */
export const HTTP_ANSWER: Uint8Array = new TextEncoder().encode(
  [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${HTTP_TEXT.length}`,
    'Connection: close',
    '',
    HTTP_TEXT,
  ].join('\r\n'),
);

type Words = string | ((facts: RefusalFacts) => string);

const SENTENCES: Readonly<Record<RefusalReason, Words>> = {
  startup_timeout: 'startup message not received in time',
  not_postgres: 'invalid startup packet',
  unsupported_protocol: 'unsupported frontend protocol',
  tls_required: 'TLS is required',
  login_unbound: 'TLS is on both sides of the proxy, and it may ask for no verifier of this role',
  login_unchecked: 'the login cannot be checked at the moment',
  login_malformed: 'malformed SCRAM message',
  password_unencrypted: 'the server asks for the password in plain text',
  binding_failed: 'SCRAM channel binding failed',
  server_unproven: 'the server did not prove that it knows the verifier of the role',
  unknown_pool: 'unknown pool',
  unknown_branch: 'unknown pool or branch',
  branch_not_allowed: (facts) => `${served(facts)} is not open to clients`,
  ambiguous_branch: 'several branches have this name',
  branches_unavailable: 'the list of branches is not available',
  branch_unreachable: (facts) => `${served(facts)} is starting or unreachable${afterWait(facts)}`,
  too_many_sessions: 'too many client connections',
  hold_full: (facts) => `too many clients are waiting for ${served(facts)}`,
  hold_timeout: noneAvailable,
  no_route: noneAvailable,
  connect_failed: (facts) => `could not connect to a member of pool "${facts.pool.name}"${afterWait(facts)}`,
  backend_refused: 'the server closed the connection during startup',
  killed_by_operator: 'terminating connection: an operator ended the session',
  causal_reads_unreadable: 'causal_reads needs a stream that the proxy can read',
  shutdown: 'the proxy is shutting down',
  internal_error: 'internal error',
};

const HINTS: Readonly<Record<RefusalReason, Words>> = {
  startup_timeout: 'Connect with a PostgreSQL client. Idle connections without a startup message are closed.',
  not_postgres: 'Connect with a PostgreSQL client. A startup packet may have up to 10000 bytes.',
  unsupported_protocol: 'Request encryption at most once, then send the startup message.',
  tls_required: 'Connect with sslmode=require, or with sslmode=verify-full and the CA certificate.',
  login_unbound: 'Connect with channel_binding=disable, or have the operator name the role in logins.roles.',
  login_unchecked: 'Connect again in a few seconds.',
  login_malformed: 'Connect with a PostgreSQL client.',
  password_unencrypted: 'Connect with sslmode=require, or with sslmode=verify-full and the CA certificate.',
  binding_failed: 'Somebody between the client and the proxy may be reading. Do not connect without channel binding.',
  server_unproven: 'Somebody else may answer at the address of the server. Tell the operator of the proxy.',
  unknown_pool: ({ targetFrom }) => targetHint(targetFrom, 'pool'),
  unknown_branch: ({ targetFrom }) => `${targetHint(targetFrom, 'pool or branch')} ${LIST}`,
  branch_not_allowed: 'The operator of the proxy opens branches with the setting branches.allow.',
  ambiguous_branch: 'Connect to one of them by its id instead of its name.',
  branches_unavailable: `Connect again in a few seconds. ${EXPLAIN_BRANCH}`,
  branch_unreachable: `Connect again in a few seconds. ${EXPLAIN_BRANCH}`,
  too_many_sessions: 'Close idle connections, use a connection pooler, or raise client.max_sessions of the proxy.',
  hold_full: 'Connect again in a few seconds.',
  hold_timeout: `Connect again in a few seconds. ${EXPLAIN}`,
  no_route: `Connect again in a few seconds. ${EXPLAIN}`,
  connect_failed: 'Connect again in a few seconds. Check that the proxy host can connect to PostgreSQL on the members.',
  backend_refused: 'The session had not started. Connect again in a few seconds.',
  killed_by_operator: 'The session had not started.',
  causal_reads_unreadable: 'Connect without GSS encryption and without replication, or to another pool.',
  shutdown: 'Connect to another proxy, or connect again in a few seconds.',
  internal_error: 'This is a bug in Pointsman. Please report it.',
};

function wordsOf(words: Words, facts: RefusalFacts): string {
  return typeof words === 'string' ? words : words(facts);
}

function served({ pool, branch }: RefusalFacts): string {
  return servedText(pool.name, branch);
}

function noneAvailable(facts: RefusalFacts): string {
  const wanted = facts.pool.check.family === 'primary' ? 'primary' : 'member';
  return `no ${wanted} available for ${served(facts)}${afterWait(facts)}`;
}

/** Empty for a client that did not wait. */
function afterWait({ waitedMs }: RefusalFacts): string {
  return waitedMs > 0 ? ` after waiting ${durationText(waitedMs)}` : '';
}

/** The state of the members is part of the DETAIL. */
const ABOUT_MEMBERS: ReadonlySet<RefusalReason> = new Set(['hold_full', 'hold_timeout', 'no_route', 'connect_failed']);

function targetHint(from: RefusalFacts['targetFrom'], what: 'pool' | 'pool or branch'): string {
  if (from === 'options') return `The client requests the ${what} in its startup options: -c pointsman.pool=NAME.`;
  if (from === 'parameter') return `The client requests the ${what} in its startup parameter pointsman.pool.`;
  return `The part after the last @ of a database name selects the ${what}. For a database named a@b, use a@b@rw.`;
}

function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('; ');
}
