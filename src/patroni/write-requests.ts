// The write operations of the management API as requests: method, path, body, and how long the answer may take.
import type { MemberName } from '../model/member.ts';
import { present } from './fields.ts';
import type { Method } from './http.ts';
import type { Dialect } from './node-status.ts';

export type JsonFields = Readonly<Record<string, unknown>>;

/** Conditions of POST /restart. A member that does not meet them does not restart. */
export interface RestartConditions {
  readonly restart_pending?: true;
  readonly role?: 'primary' | 'replica' | 'standby_leader';
  /** Restart only below this version: `15.4`. */
  readonly postgres_version?: string;
  /** As PostgreSQL writes durations: seconds, or `30s`. */
  readonly timeout?: number | string;
  /** ISO 8601 with offset. */
  readonly schedule?: string;
}

export type WriteOperation =
  | {
      readonly kind: 'switchover';
      readonly leader: MemberName;
      readonly candidate?: MemberName;
      readonly scheduled_at?: string;
    }
  | { readonly kind: 'cancel_switchover' }
  | { readonly kind: 'failover'; readonly candidate: MemberName; readonly leader?: MemberName }
  | ({ readonly kind: 'restart' } & RestartConditions)
  | { readonly kind: 'cancel_restart' }
  | { readonly kind: 'reload' }
  | { readonly kind: 'reinitialize'; readonly force?: true; readonly from_leader?: true }
  /** A null removes a key. */
  | { readonly kind: 'patch_config'; readonly changes: JsonFields }
  | { readonly kind: 'replace_config'; readonly config: JsonFields }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' };

export interface WriteRequest {
  readonly method: Exclude<Method, 'GET'>;
  readonly path: string;
  /** Undefined: no body. */
  readonly body?: JsonFields;
  /** Milliseconds. */
  readonly deadlineMs: number;
}

/** One write to the configuration store, which may be tried again for `retry_timeout` (10 s). Milliseconds. */
const STORE_MS = 30_000;
/**
 * A switchover answers when it is over. Patroni looks at most 2 x max(10, loop_wait) times, a second apart, and each
 * look reads the store (P: api.py, poll_failover_result).
 */
const SWITCHOVER_MS = 150_000;
/** A restart answers when PostgreSQL runs again: `primary_start_timeout` (300 s) at most, after the shutdown. */
const START_MS = 300_000;
const SHUTDOWN_MS = 120_000;

/** `dialect`: of the API, if it is known. */
export function requestOf(operation: WriteOperation, dialect?: Dialect): WriteRequest {
  switch (operation.kind) {
    case 'switchover': {
      const { leader, candidate, scheduled_at } = operation;
      const deadlineMs = scheduled_at === undefined ? SWITCHOVER_MS : STORE_MS;
      return post('/switchover', deadlineMs, { leader, candidate, scheduled_at });
    }
    case 'cancel_switchover':
      return { method: 'DELETE', path: '/switchover', deadlineMs: STORE_MS };
    case 'failover': {
      const { candidate, leader } = operation;
      return post('/failover', SWITCHOVER_MS, { leader, candidate });
    }
    case 'restart': {
      const { restart_pending, role, postgres_version, timeout, schedule } = operation;
      const deadlineMs =
        schedule === undefined ? SHUTDOWN_MS + Math.max(START_MS, secondsOf(timeout) * 1000) : STORE_MS;
      return post('/restart', deadlineMs, { restart_pending, role, postgres_version, timeout, schedule });
    }
    case 'cancel_restart':
      return { method: 'DELETE', path: '/restart', deadlineMs: STORE_MS };
    case 'reload':
      return { method: 'POST', path: '/reload', deadlineMs: STORE_MS };
    case 'reinitialize': {
      const { force, from_leader } = operation;
      // The management API and Patroni's documentation write `from-leader`. Patroni's code reads `from_leader`.
      const ofPatroni = dialect === 'manager' ? {} : { from_leader };
      return post('/reinitialize', STORE_MS, { force, ...ofPatroni, 'from-leader': from_leader });
    }
    case 'patch_config':
      return { method: 'PATCH', path: '/config', body: operation.changes, deadlineMs: STORE_MS };
    case 'replace_config':
      return { method: 'PUT', path: '/config', body: operation.config, deadlineMs: STORE_MS };
    case 'pause':
      return { method: 'PATCH', path: '/config', body: { pause: true }, deadlineMs: STORE_MS };
    case 'resume':
      // As patronictl does: the key is absent in a cluster that is not paused.
      return { method: 'PATCH', path: '/config', body: { pause: null }, deadlineMs: STORE_MS };
  }
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, min: 60, h: 3600, d: 86_400 };

/** PostgreSQL's units; 0 for text that is no duration. */
function secondsOf(timeout: number | string | undefined): number {
  if (typeof timeout === 'number') return timeout;
  const [, count = '0', unit = 's'] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)?\s*$/.exec(timeout ?? '') ?? [];
  return Number(count) * (SECONDS[unit] ?? 1);
}

/** Without the fields that are undefined, and without a body when none is left. */
function post(path: string, deadlineMs: number, fields: JsonFields): WriteRequest {
  const body = present(fields);
  return { method: 'POST', path, deadlineMs, ...(Object.keys(body).length > 0 && { body }) };
}
