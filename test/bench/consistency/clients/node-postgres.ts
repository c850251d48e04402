// node-postgres: one client that is kept, one for each transaction, and a pool.
import { Client, type ClientBase, Pool } from 'pg';
import { type Application, type DatabaseSession, type Target, transact } from './application.ts';

let sessions = 0;

function sessionOf(client: ClientBase): DatabaseSession {
  sessions += 1;
  const value = async (statement: string): Promise<string> => {
    const { rows } = await client.query<[string]>({ text: statement, rowMode: 'array' });
    return rows[0]?.[0] ?? '';
  };
  const run = async (statement: string): Promise<void> => void (await client.query(statement));
  const commit = async (): Promise<void> => {
    const { command } = await client.query('commit');
    // The server answers so when it took the transaction back.
    if (command !== 'COMMIT') throw new Error(`the answer to COMMIT is ${command}`);
  };
  return {
    name: `node-postgres ${sessions}`,
    value,
    transaction: (statements, steps) => transact({ value, run, commit }, statements, steps),
  };
}

async function connect(target: Target): Promise<Client> {
  const client = new Client({ host: '127.0.0.1', ...target });
  // The statement that fails says it, too.
  client.on('error', ignore);
  await client.connect();
  return client;
}

async function leave(client: Client | undefined): Promise<void> {
  await client?.end().catch(ignore);
}

const ignore = (): void => undefined;

/** One session that stays open, until an error: the application then connects again. */
export function keptClient(target: Target): Application {
  let open: { readonly client: Client; readonly session: DatabaseSession } | undefined;
  return {
    name: 'node-postgres, one kept session',
    async use(work) {
      if (open === undefined) {
        const client = await connect(target);
        const mine = { client, session: sessionOf(client) };
        client.on('end', () => {
          if (open === mine) open = undefined;
        });
        open = mine;
      }
      const { client, session } = open;
      try {
        return await work(session);
      } catch (error) {
        open = undefined;
        await leave(client);
        throw error;
      }
    },
    async stop() {
      await leave(open?.client);
    },
  };
}

export function clientPerTransaction(target: Target): Application {
  return {
    name: 'node-postgres, a session for each transaction',
    async use(work) {
      const client = await connect(target);
      try {
        return await work(sessionOf(client));
      } finally {
        await leave(client);
      }
    },
    stop: async () => ignore(),
  };
}

export function nodePostgresPool(target: Target, max: number): Application {
  const pool = new Pool({ host: '127.0.0.1', ...target, max });
  // An idle session ended.
  pool.on('error', ignore);
  // The last words of a server can stand in the chunk that ends a login: before the pool has answered.
  pool.on('connect', (client) => client.on('error', ignore));
  const known = new WeakMap<ClientBase, DatabaseSession>();
  return {
    name: 'node-postgres, pool',
    async use(work) {
      const client = await pool.connect();
      const session = known.get(client) ?? sessionOf(client);
      known.set(client, session);
      try {
        const result = await work(session);
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    stop: () => pool.end(),
  };
}
