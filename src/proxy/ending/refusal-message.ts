// What a refused client reads. One text per reason, with the reason itself as the greppable word; DETAIL says what is known,
// HINT what to do. Addresses are left out: whoever reads this has not authenticated.
import { CLOSE_REASONS } from '../../model/close-reason.ts';
import type { RefusalReason } from '../../model/close-reason.ts';
import { describeMembers, durationText } from '../../core/describe.ts';
import type { Instant } from '../../model/instant.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import type { PoolDecision } from '../../core/routing-table.ts';
import { encodeErrorResponse } from '../../wire/error-response.ts';
import type { ErrorFields } from '../../wire/error-response.ts';
import type { PoolRequest } from '../../wire/pool-request.ts';

export interface RefusalFacts {
  readonly pool: PoolPolicy;
  readonly decision: PoolDecision | undefined;
  readonly now: Instant;
  /** How long the client was on hold. */
  readonly waitedMs: number;
  /** What makes this refusal differ from others of its reason: the cap that was met, the last failed connect. */
  readonly detail: string | undefined;
  /** Where the client named its pool, if it did. */
  readonly targetFrom?: PoolRequest['from'] | undefined;
}

/** Who has no session yet is told as PostgreSQL does when it shuts down: libpq tries its next host, pg_isready says "rejecting". */
const CANNOT_CONNECT_NOW = '57P03';

export function refusalMessage(reason: RefusalReason, facts: RefusalFacts): ErrorFields {
  const isForNow = reason === 'shutdown' || reason === 'backend_closed';
  const sqlState = isForNow ? CANNOT_CONNECT_NOW : CLOSE_REASONS[reason].sqlState;
  return { sqlState, message: `pointsman: ${sentence(reason, facts.pool)} (${reason})`, ...advice(reason, facts) };
}

/** The same as it goes to the client. */
export function encodeRefusal(reason: RefusalReason, facts: RefusalFacts): Uint8Array {
  return encodeErrorResponse(refusalMessage(reason, facts));
}

/** The answer to a browser, a health check or a scraper on this port. */
export const HTTP_ANSWER: Uint8Array = httpAnswer(
  'pointsman: this port speaks the PostgreSQL protocol, not HTTP (not_postgres).\n' +
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

function sentence(reason: RefusalReason, pool: PoolPolicy): string {
  switch (reason) {
    case 'startup_timeout':
      return 'no complete startup message in time';
    case 'not_postgres':
      return 'this is not the PostgreSQL protocol';
    case 'unsupported_protocol':
      return 'unsupported frontend protocol';
    case 'tls_required':
      return 'connections without TLS are not accepted here';
    case 'unknown_target':
      return 'the client asks for a pool that is not there';
    case 'too_many_sessions':
      return 'too many sessions';
    case 'hold_full':
      return `too many clients wait for a route in pool "${pool.name}"`;
    case 'hold_timeout':
    case 'no_route':
      return `no ${pool.check.family === 'primary' ? 'primary' : 'member'} to route to in pool "${pool.name}"`;
    case 'connect_failed':
      return `could not connect to a member of pool "${pool.name}"`;
    case 'backend_closed':
      return `the server of pool "${pool.name}" ended the session`;
    case 'shutdown':
      return 'the proxy is shutting down';
    case 'internal_error':
      return 'an invariant of the proxy broke';
  }
}

function advice(reason: RefusalReason, facts: RefusalFacts): Pick<ErrorFields, 'detail' | 'hint'> {
  const { detail, waitedMs } = facts;
  const waited = waitedMs > 0 ? `waited ${durationText(waitedMs)}` : undefined;
  const members = (): string => describeMembers(facts.decision, facts.now);
  switch (reason) {
    case 'startup_timeout':
      return { detail, hint: 'Connect with a PostgreSQL client; what connects and says nothing is cut off.' };
    case 'not_postgres':
      return {
        detail,
        hint: 'Connect with a PostgreSQL client. What it says first, all parameters included, may have 10000 bytes.',
      };
    case 'unsupported_protocol':
      return { detail, hint: 'Ask for encryption once, then send the startup message.' };
    case 'tls_required':
      return {
        detail,
        hint: 'Connect with TLS: sslmode=require, or verify-full with the certificate of the authority.',
      };
    case 'unknown_target':
      return { detail, hint: targetHint(facts.targetFrom) };
    case 'too_many_sessions':
      return {
        detail,
        hint: 'Close idle connections, put a connection pool between, or raise max_sessions in the configuration of the proxy.',
      };
    case 'hold_full':
      return { detail: join(detail, members()), hint: 'Connect again in a few seconds.' };
    case 'hold_timeout':
    case 'no_route':
      return {
        detail: join(detail, members(), waited),
        hint: 'Connect again in a few seconds. If it stays so, /status on the admin address of the proxy says more.',
      };
    case 'connect_failed':
      return {
        detail: join(detail, members(), waited),
        hint: "Connect again in a few seconds. If it stays so, check that PostgreSQL accepts connections from the proxy's host.",
      };
    case 'backend_closed':
      return { detail, hint: 'The session had not begun. Connect again in a few seconds.' };
    case 'shutdown':
      return { detail, hint: 'Connect to another proxy, or again in a few seconds.' };
    case 'internal_error':
      return { detail, hint: 'Please report this.' };
  }
}

function targetHint(from: RefusalFacts['targetFrom']): string {
  if (from === 'options') return 'The pool is named in the startup options of the client: -c pointsman.pool=NAME.';
  if (from === 'parameter') return 'The pool is named in the startup parameter pointsman.pool of the client.';
  return 'What follows the last @ of a database name is a pool. A database that is itself named a@b is reached as a@b@rw.';
}

function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('; ');
}
