// A client population that connects, writes one row, and leaves, at a steady rate: an application without a pool, as a
// failover meets it. Every attempt is recorded, none is repeated. A slow machine gets fewer of them.
import { EventEmitter } from 'node:events';
import { Client } from 'pg';
import { SERVER_NAME } from '../clusters/server-name.ts';
import type { Credentials } from '../patroni/settings.ts';
import { monotonicMs } from '../waiting/wait.ts';

export interface Attempt {
  /** monotonicMs() of wait.ts. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The first message came, before the login is over. Absent: none came, or it was not asked. */
  readonly reachedAtMs?: number | undefined;
  /** Absent: it never connected, or was not asked. */
  readonly connectedAtMs?: number | undefined;
  /** The server that took the write, `host:port` by its own account; undefined when the attempt failed. */
  readonly server: string | undefined;
  readonly rowId: number | undefined;
  /** SQLSTATE and text of the failure. */
  readonly error: string | undefined;
  /** The same, when the connect failed and not a statement on an open session. */
  readonly connectError: string | undefined;
}

export interface AttemptOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl?: Credentials['ssl'];
  /** Returns one row with `server` and `id`. */
  readonly sql: string;
  /** How long the client waits for its connection; for ever unless told. */
  readonly connectTimeoutMs?: number;
}

export interface ConnectLoadOptions extends AttemptOptions {
  /** At most: see MOST_OF_A_CORE. */
  readonly perSecond: number;
}

/** So many at once, and no more begin: on a slow machine they would only wait for each other, ever longer. */
const MOST_UNDER_WAY = 100;
/**
 * The share of time that the quickest attempt so far would fill, at the pace of the load. A server process takes 5 ms
 * of a processor on one machine and 50 on another: at 50 a second the cluster itself would get no time, and fail for
 * that.
 */
const MOST_OF_A_CORE = 1 / 3;

export interface ConnectLoad {
  readonly attempts: readonly Attempt[];
  /** Starts no more and resolves when every attempt under way has ended. */
  stop(): Promise<readonly Attempt[]>;
}

/** The row names the server that took it. The e2e tests create the table. */
export const WRITE_ROW = `insert into writes (server) values (${SERVER_NAME}) returning id, server`;
/** A read for such a load; an answer has an id, whatever it is. */
export const READ_ROW = `select ${SERVER_NAME} as server, 0 as id`;
export const CREATE_WRITES =
  'create table if not exists writes ' +
  '(id bigint generated always as identity primary key, server text, at timestamptz default clock_timestamp())';

export function startConnectLoad(options: ConnectLoadOptions): ConnectLoad {
  let quickestMs = 0;
  const attempt = async (): Promise<Attempt> => {
    const one = await attemptOnce(options);
    const tookMs = one.endedAtMs - one.startedAtMs;
    if (one.error === undefined) quickestMs = quickestMs === 0 ? tookMs : Math.min(quickestMs, tookMs);
    return one;
  };
  return startLoad(attempt, () => Math.max(1000 / options.perSecond, quickestMs / MOST_OF_A_CORE));
}

/** The same of any client. An attempt never rejects. `everyMs`: the time between two attempts, read anew for each. */
export function startLoad(attempt: () => Promise<Attempt>, everyMs: () => number): ConnectLoad {
  const attempts: Attempt[] = [];
  const underWay = new Set<Promise<void>>();
  const record = async (): Promise<void> => {
    attempts.push(await attempt());
  };
  let timer: NodeJS.Timeout | undefined;
  let nextAtMs = monotonicMs();
  const begin = (): void => {
    nextAtMs = Math.max(nextAtMs + everyMs(), monotonicMs());
    timer = setTimeout(begin, Math.max(0, nextAtMs - monotonicMs()));
    if (underWay.size >= MOST_UNDER_WAY) return;
    const one = record();
    underWay.add(one);
    void one.finally(() => underWay.delete(one));
  };
  begin();
  return {
    attempts,
    async stop() {
      clearTimeout(timer);
      await Promise.all(underWay);
      return attempts;
    },
  };
}

/** Connects, runs the statement, leaves. Never rejects. */
export async function attemptOnce(options: AttemptOptions): Promise<Attempt> {
  const { connectTimeoutMs = 0, ssl, sql, ...to } = options;
  const startedAtMs = monotonicMs();
  const client = new Client({ ...to, ...(ssl && { ssl }), connectionTimeoutMillis: connectTimeoutMs });
  let reachedAtMs: number | undefined;
  onFirstMessage(client, () => (reachedAtMs = monotonicMs()));
  let connectedAtMs: number | undefined;
  let lost: Error | undefined;
  client.on('error', (error) => {
    lost = error;
  });
  try {
    await client.connect();
    connectedAtMs = monotonicMs();
    const { rows } = await client.query<{ id: string; server: string }>(sql);
    const [row] = rows;
    return {
      startedAtMs,
      reachedAtMs,
      connectedAtMs,
      endedAtMs: monotonicMs(),
      server: row?.server,
      rowId: row === undefined ? undefined : Number(row.id),
      error: undefined,
      connectError: undefined,
    };
  } catch (error) {
    const known = lost ?? error;
    const code = known instanceof Error && 'code' in known ? String(known.code) : undefined;
    const text = known instanceof Error ? known.message : String(known);
    const told = code === undefined ? text : `${code} ${text}`;
    const connectError = connectedAtMs === undefined ? told : undefined;
    return { startedAtMs, endedAtMs: monotonicMs(), server: undefined, rowId: undefined, error: told, connectError };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** node-postgres keeps its connection, which tells each message, outside its published types. */
function onFirstMessage(client: Client, told: () => void): void {
  const connection: unknown = Reflect.get(client, 'connection');
  if (!(connection instanceof EventEmitter))
    throw new Error('this node-postgres has no connection that tells messages');
  connection.once('message', told);
}
