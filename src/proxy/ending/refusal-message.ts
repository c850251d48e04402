// The error that a refused client reads: one message per reason, with the reason code at its end; DETAIL gives the
// facts, HINT the remedy. No text contains an address, because the reader has not authenticated.
import { CLOSE_REASONS } from '../../model/close-reason.ts';
import type { RefusalReason } from '../../model/close-reason.ts';
import { describeMembers, durationText } from '../../core/describe.ts';
import type { Instant } from '../../model/instant.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import type { PoolDecision } from '../../core/routing-table.ts';
import { encodeErrorResponse } from '../../wire/error-response.ts';
import type { ErrorFields } from '../../wire/error-response.ts';
import type { PoolRequest } from '../../wire/pool-request.ts';

const EXPLAIN = '`pointsman explain` on the proxy host shows why each member is excluded.';

export interface RefusalFacts {
  readonly pool: PoolPolicy;
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
  const isForNow = reason === 'shutdown' || reason === 'backend_closed';
  const sqlState = isForNow ? CANNOT_CONNECT_NOW : CLOSE_REASONS[reason].sqlState;
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

function sentence(reason: RefusalReason, { pool, waitedMs }: RefusalFacts): string {
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
    case 'too_many_sessions':
      return 'too many client connections';
    case 'hold_full':
      return `too many clients are waiting for pool "${pool.name}"`;
    case 'hold_timeout':
    case 'no_route':
      return `no ${wanted(pool)} available for pool "${pool.name}"${after(waitedMs)}`;
    case 'connect_failed':
      return `could not connect to a member of pool "${pool.name}"${after(waitedMs)}`;
    case 'backend_closed':
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

function advice(reason: RefusalReason, facts: RefusalFacts): Pick<ErrorFields, 'detail' | 'hint'> {
  const { detail } = facts;
  const members = (): string => describeMembers(facts.decision, facts.now);
  switch (reason) {
    case 'startup_timeout':
      return {
        detail,
        hint: 'Connect with a PostgreSQL client. Idle connections without a startup message are closed.',
      };
    case 'not_postgres':
      return {
        detail,
        hint: 'Connect with a PostgreSQL client. A startup packet may have up to 10000 bytes.',
      };
    case 'unsupported_protocol':
      return { detail, hint: 'Request encryption at most once, then send the startup message.' };
    case 'tls_required':
      return {
        detail,
        hint: 'Connect with sslmode=require, or with sslmode=verify-full and the CA certificate.',
      };
    case 'unknown_pool':
      return { detail, hint: targetHint(facts.targetFrom) };
    case 'too_many_sessions':
      return {
        detail,
        hint: 'Close idle connections, use a connection pooler, or raise client.max_sessions of the proxy.',
      };
    case 'hold_full':
      return { detail: join(detail, members()), hint: 'Connect again in a few seconds.' };
    case 'hold_timeout':
    case 'no_route':
      return {
        detail: join(detail, members()),
        hint: `Connect again in a few seconds. ${EXPLAIN}`,
      };
    case 'connect_failed':
      return {
        detail: join(detail, members()),
        hint: 'Connect again in a few seconds. Check that the proxy host can connect to PostgreSQL on the members.',
      };
    case 'backend_closed':
      return { detail, hint: 'The session had not started. Connect again in a few seconds.' };
    case 'killed_by_operator':
      return { detail, hint: 'The session had not started.' };
    case 'shutdown':
      return { detail, hint: 'Connect to another proxy, or connect again in a few seconds.' };
    case 'internal_error':
      return { detail, hint: 'This is a bug in Pointsman. Please report it.' };
  }
}

function targetHint(from: RefusalFacts['targetFrom']): string {
  if (from === 'options') return 'The client requests the pool in its startup options: -c pointsman.pool=NAME.';
  if (from === 'parameter') return 'The client requests the pool in its startup parameter pointsman.pool.';
  return 'The part after the last @ of a database name selects the pool. For a database named a@b, use a@b@rw.';
}

function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('; ');
}
