// How the API speaks: its contract to the letter (`manager`), or as Patroni 4.1 does (`patroni`). What differs only in a word or a number is
// here; what differs in behaviour is in manager-routes.ts and patroni-routes.ts, and in how server.ts writes an answer.
import type { DialectName } from '../sandbox.ts';

/** Ends of an operation that have a status code of their own somewhere. */
export type OperationEnd =
  | 'done'
  | 'accepted'
  | 'reloaded'
  | 'invalid'
  | 'bad_schedule'
  | 'refused'
  /** Possible, were the cluster not paused. */
  | 'paused'
  | 'restart_refused'
  | 'reinitialize_refused'
  | 'nothing_scheduled'
  | 'already_scheduled'
  | 'failed';

export interface Dialect {
  readonly name: DialectName;
  /** Of the node status document. */
  readonly statusPath: '/manager' | '/patroni';
  /** The key in it that carries version and scope. */
  readonly documentKey: 'manager' | 'patroni';
  readonly metricsPrefix: 'manager' | 'patroni';
  /** The management API lists `tags` and `replication` without a condition; Patroni leaves them out when there are none. */
  readonly showsEmpty: boolean;
  /** The management API gives types to the keys of /config; Patroni takes whatever it can read as one. */
  readonly hasTypedConfig: boolean;
  /**
   * The management API calls no field optional: while PostgreSQL does not answer, what it last said is shown. Patroni leaves those
   * fields out.
   */
  readonly showsLastKnown: boolean;
  /**
   * The management API has `xlog.location` on every node: the end of the WAL that the node has. Patroni has it on a primary alone.
   */
  readonly hasLocationAlways: boolean;
  /** Content type of plain text. */
  readonly textType: string;
  readonly statusOf: Readonly<Record<OperationEnd, number>>;
}

const MANAGER: Dialect = {
  name: 'manager',
  statusPath: '/manager',
  documentKey: 'manager',
  metricsPrefix: 'manager',
  showsEmpty: true,
  hasTypedConfig: true,
  hasLocationAlways: true,
  showsLastKnown: true,
  textType: 'text/plain; charset=utf-8',
  // The management API, "Errors", knows these five.
  statusOf: {
    done: 200,
    reloaded: 200,
    accepted: 202,
    invalid: 400,
    bad_schedule: 400,
    refused: 412,
    paused: 412,
    restart_refused: 412,
    reinitialize_refused: 412,
    nothing_scheduled: 412,
    already_scheduled: 412,
    failed: 503,
  },
};

const PATRONI: Dialect = {
  name: 'patroni',
  statusPath: '/patroni',
  documentKey: 'patroni',
  metricsPrefix: 'patroni',
  showsEmpty: false,
  hasTypedConfig: false,
  hasLocationAlways: false,
  showsLastKnown: false,
  // Plain words all the same.
  textType: 'text/html',
  statusOf: {
    ...MANAGER.statusOf,
    reloaded: 202,
    paused: 400,
    bad_schedule: 422,
    restart_refused: 503,
    reinitialize_refused: 503,
    nothing_scheduled: 404,
    already_scheduled: 409,
  },
};

export function dialectOf(name: DialectName): Dialect {
  return name === 'manager' ? MANAGER : PATRONI;
}
