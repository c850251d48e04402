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
  const sqlState = reason === 'shutdown' ? CANNOT_CONNECT_NOW : CLOSE_REASONS[reason].sqlState;
  return { sqlState, message: `pointsman: ${sentence(reason, facts)} (${reason})`, ...advice(reason, facts) };
}

/** The message as bytes on the wire. */
export function encodeRefusal(reason: RefusalReason, facts: RefusalFacts): Uint8Array {
  return encodeErrorResponse(refusalMessage(reason, facts));
}

/** The answer to a browser, a health check or a scraper on this port. */
export const HTTP_ANSWER: Uint8Array = httpAnswer(
  'pointsman: this port serves the PostgreSQL protocol, not HTTP (not-postgres).\n' +
    'Health, metrics and status are on the admin address.\n',
);

function httpAnswer(text: string): Uint8Array {
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
  ];
  return new TextEncoder().encode(`${head.join('\r\n')}\r\n\r\n${text}`);
}

function sentence(reason: RefusalReason, { pool, branch, waitedMs }: RefusalFacts): string {
  const served = servedText(pool.name, branch);
  switch (reason) {
    case 'startup_timeout':
      return 'startup message not received in time';
    case 'not_postgres':
      return 'invalid startup packet';
    case 'unsupported_protocol':
      return 'unsupported frontend protocol';
    case 'tls_required':
      return 'TLS is required';
    case 'unknown_pool':
      return 'unknown pool';
    case 'unknown_branch':
      return 'unknown pool or branch';
    case 'branch_not_allowed':
      return `${served} is not open to clients`;
    case 'ambiguous_branch':
      return 'several branches have this name';
    case 'branches_unavailable':
      return 'the list of branches is not available';
    case 'branch_unreachable':
      return `${served} is starting or unreachable${after(waitedMs)}`;
    case 'too_many_sessions':
      return 'too many client connections';
    case 'hold_full':
      return `too many clients are waiting for ${served}`;
    case 'hold_timeout':
    case 'no_route':
      return `no ${wanted(pool)} available for ${served}${after(waitedMs)}`;
    case 'connect_failed':
      return `could not connect to a member of pool "${pool.name}"${after(waitedMs)}`;
    case 'backend_refused':
      return `the server closed the connection during startup`;
    case 'killed_by_operator':
      return 'terminating connection: an operator ended the session';
    case 'shutdown':
      return 'the proxy is shutting down';
    case 'internal_error':
      return 'internal error';
  }
}

function wanted({ check }: PoolPolicy): string {
  return check.family === 'primary' ? 'primary' : 'member';
}

/** Empty for a client that did not wait. */
function after(waitedMs: number): string {
  return waitedMs > 0 ? ` after waiting ${durationText(waitedMs)}` : '';
}

/** The state of the members is part of the DETAIL. */
const ABOUT_MEMBERS: ReadonlySet<RefusalReason> = new Set(['hold_full', 'hold_timeout', 'no_route', 'connect_failed']);

function advice(reason: RefusalReason, facts: RefusalFacts): Pick<ErrorFields, 'detail' | 'hint'> {
  const { detail, pool, decision, now } = facts;
  const isAboutMembers = ABOUT_MEMBERS.has(reason) && pool.name !== BRANCHES_POOL;
  return {
    detail: isAboutMembers ? join(detail, describeMembers(decision, now)) : detail,
    hint: hint(reason, facts.targetFrom),
  };
}

function hint(reason: RefusalReason, targetFrom: RefusalFacts['targetFrom']): string {
  switch (reason) {
    case 'startup_timeout':
      return 'Connect with a PostgreSQL client. Idle connections without a startup message are closed.';
    case 'not_postgres':
      return 'Connect with a PostgreSQL client. A startup packet may have up to 10000 bytes.';
    case 'unsupported_protocol':
      return 'Request encryption at most once, then send the startup message.';
    case 'tls_required':
      return 'Connect with sslmode=require, or with sslmode=verify-full and the CA certificate.';
    case 'unknown_pool':
      return targetHint(targetFrom, 'pool');
    case 'unknown_branch':
      return `${targetHint(targetFrom, 'pool or branch')} ${LIST}`;
    case 'branch_not_allowed':
      return 'The operator of the proxy opens branches with the setting branches.allow.';
    case 'ambiguous_branch':
      return 'Connect to one of them by its id instead of its name.';
    case 'branches_unavailable':
    case 'branch_unreachable':
      return `Connect again in a few seconds. ${EXPLAIN_BRANCH}`;
    case 'too_many_sessions':
      return 'Close idle connections, use a connection pooler, or raise client.max_sessions of the proxy.';
    case 'hold_full':
      return 'Connect again in a few seconds.';
    case 'hold_timeout':
    case 'no_route':
      return `Connect again in a few seconds. ${EXPLAIN}`;
    case 'connect_failed':
      return 'Connect again in a few seconds. Check that the proxy host can connect to PostgreSQL on the members.';
    case 'backend_refused':
      return 'The session had not started. Connect again in a few seconds.';
    case 'killed_by_operator':
      return 'The session had not started.';
    case 'shutdown':
      return 'Connect to another proxy, or connect again in a few seconds.';
    case 'internal_error':
      return 'This is a bug in Pointsman. Please report it.';
  }
}

function targetHint(from: RefusalFacts['targetFrom'], what: 'pool' | 'pool or branch'): string {
  if (from === 'options') return `The client requests the ${what} in its startup options: -c pointsman.pool=NAME.`;
  if (from === 'parameter') return `The client requests the ${what} in its startup parameter pointsman.pool.`;
  return `The part after the last @ of a database name selects the ${what}. For a database named a@b, use a@b@rw.`;
}

function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('; ');
}
