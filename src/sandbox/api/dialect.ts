// The two ways in which the API answers: exactly by the management API (`manager`), or as Patroni 4.1 does (`patroni`).
// Differences in a word or a number are here. Differences in behaviour are in dialect-routes.ts and in write-answer.ts.
import type { DialectName } from '../sandbox.ts';

/** Outcomes of an operation that have a status code of their own in one of the dialects. */
export type OperationEnd =
  | 'done'
  | 'accepted'
  | 'reloaded'
  | 'invalid'
  | 'bad_schedule'
  | 'refused'
  /** Possible when the cluster is not paused. */
  | 'paused'
  | 'restart_refused'
  | 'reinitialize_refused'
  | 'nothing_scheduled'
  | 'already_scheduled'
  | 'failed';

export interface ApiDialect {
  /** Also the path of the node status document, its key with version and scope, and the prefix of the metrics. */
  readonly name: DialectName;
  /** The management API always has `tags` and `replication`. Patroni leaves them out when they are empty. */
  readonly showsEmpty: boolean;
  /** The management API gives types to the keys of /config. Patroni accepts any value that it can convert. */
  readonly hasTypedConfig: boolean;
  /**
   * No field is optional in the management API: while PostgreSQL does not answer, the last known values are shown.
   * Patroni leaves those fields out.
   */
  readonly showsLastKnown: boolean;
  /**
   * The management API has `xlog.location` on every node: the end of the WAL that the node has. Patroni has it on a
   * primary only.
   */
  readonly hasLocationAlways: boolean;
  /** The content type of plain text. */
  readonly textType: string;
  readonly statusOf: Readonly<Record<OperationEnd, number>>;
}

const MANAGER: ApiDialect = {
  name: 'manager',
  showsEmpty: true,
  hasTypedConfig: true,
  hasLocationAlways: true,
  showsLastKnown: true,
  textType: 'text/plain; charset=utf-8',
  // The five codes of the management API, "Errors".
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

const PATRONI: ApiDialect = {
  name: 'patroni',
  showsEmpty: false,
  hasTypedConfig: false,
  hasLocationAlways: false,
  showsLastKnown: false,
  // Plain words in this dialect too.
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

export function dialectOf(name: DialectName): ApiDialect {
  return name === 'manager' ? MANAGER : PATRONI;
}
