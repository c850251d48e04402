// SQL on one kept connection, one statement after another. Each has a deadline that starts with the call. When it
// passes during a statement the connection is destroyed, because a frozen server leaves no other way out. The next
// statement makes a new one.
import { Socket } from 'node:net';
import type Pg from 'pg';
import type { Client } from 'pg';
import type { Credentials } from './settings-files.ts';

export interface SqlAddress extends Credentials {
  readonly host: string;
  readonly port: number;
  /** Default `postgres`. */
  readonly database?: string;
}

/** With a name: the server parses and plans it once for each connection. */
export type SqlStatement = string | { readonly name: string; readonly text: string };

export interface Sql {
  query<Row extends object>(
    statement: SqlStatement,
    values: readonly unknown[],
    timeoutMs: number,
  ): Promise<readonly Row[]>;
  /** Destroys the connection and rejects the calls that wait for it. It can be used again afterwards. */
  reset(): void;
}

interface Ask {
  readonly run: (client: Client) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

interface SqlSession {
  readonly client: Client;
  readonly socket: Socket;
}

export function openSql(address: SqlAddress): Sql {
  const waiting: Ask[] = [];
  let current: Ask | undefined;
  let session: SqlSession | undefined;

  function reset(): void {
    session?.socket.destroy();
    session = undefined;
  }

  async function connected(): Promise<Client> {
    if (session !== undefined) return session.client;
    const opened = (session = openSession(await loadPg(), address));
    opened.client.on('end', () => {
      if (session === opened) session = undefined;
    });
    await opened.client.connect();
    return opened.client;
  }

  async function work(): Promise<void> {
    if (current !== undefined) return;
    for (current = waiting.shift(); current !== undefined; current = waiting.shift()) {
      try {
        await current.run(await connected());
      } catch (error) {
        // A plain error of the server leaves the connection usable. After any other error it may be half open.
        if (!isPlainError(error)) reset();
        current.reject(error);
      }
    }
  }

  async function query<Row extends object>(
    statement: SqlStatement,
    values: readonly unknown[],
    timeoutMs: number,
  ): Promise<readonly Row[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
    const deadline = new AbortController();
    const ask: Ask = {
      async run(client) {
        deadline.signal.throwIfAborted();
        const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement;
        resolve((await client.query<Row>({ ...(name && { name }), text, values: [...values] })).rows);
      },
      reject,
    };
    const timer = setTimeout(() => {
      const why = new Error(`no answer from PostgreSQL at ${address.host}:${address.port} within ${timeoutMs} ms`);
      deadline.abort(why);
      reject(why);
      if (current === ask) reset();
      else waiting.splice(waiting.indexOf(ask), 1);
    }, timeoutMs);
    waiting.push(ask);
    void work();
    return promise.finally(() => clearTimeout(timer));
  }

  return { query, reset };
}

async function loadPg(): Promise<typeof Pg> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new Error('the npm package pg is not installed, and the sandbox needs it', { cause });
  });
  return pg;
}

function openSession(pg: typeof Pg, address: SqlAddress): SqlSession {
  const { host, port, user, password, authority, database = 'postgres' } = address;
  const socket = new Socket();
  const client = new pg.Client({
    host,
    port,
    user,
    password,
    database,
    application_name: 'pointsman-sandbox',
    stream: () => socket,
    ...(authority === undefined ? {} : { ssl: { ca: authority.cert } }),
  });
  // The statement in progress is rejected. Between statements the error can be ignored.
  client.on('error', () => {});
  return { client, socket };
}

/** The severity that PostgreSQL names. After ERROR the connection goes on; FATAL and PANIC end it. */
function isPlainError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}
