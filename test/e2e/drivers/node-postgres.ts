// node-postgres: see README.md.
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool, Query } from 'pg';
import type { ClientConfig, PoolClient } from 'pg';
import { encryption, endWithInput, LARGE, POOL, RECOVERY, runCases, tell, textOf, WRITE } from './common.ts';

declare module 'pg' {
  interface Client {
    /** The published types lack it: it sends the request on its own connection. */
    cancel(client: Client, query: Query): void;
  }
}

const ssl = encryption();
/** It offers to bind the login, and the server of the test offers it. */
const enableChannelBinding = process.env['PGCHANNELBINDING'] === 'require';

async function session(more: ClientConfig = {}): Promise<Client> {
  const client = new Client({ ssl, enableChannelBinding, ...more });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function value(client: Client | PoolClient, text: string): Promise<string> {
  const { rows } = await client.query<[unknown]>({ text, rowMode: 'array' });
  return String(rows[0]?.[0]);
}

async function failing(client: Client, text: string): Promise<string> {
  const state = await client.query(text).then(
    () => 'no error',
    (error: { readonly code?: string }) => error.code,
  );
  return `${state} ${await value(client, 'select 1')}`;
}

const cases = {
  connect: async () => value(await session(), 'select 1'),
  prepared: async () => {
    const client = await session();
    const found = [];
    for (let n = 0; n < 3; n += 1) {
      const { rows } = await client.query({ name: 'add', text: 'select $1::int + 1', values: [41], rowMode: 'array' });
      found.push(...rows.flat());
    }
    return found.join(' ');
  },
  transaction: async () => {
    const client = await session();
    await client.query('create temporary table t (n int)');
    const counts = [];
    for (const end of ['rollback', 'commit']) {
      for (const text of ['begin', 'insert into t values (1)', end]) await client.query(text);
      counts.push(await value(client, 'select count(*) from t'));
    }
    return counts.join(' ');
  },
  large: async () => {
    const { rows } = await (await session()).query<{ n: number }>(LARGE);
    return `${rows.length} ${rows.reduce((sum, { n }) => sum + n, 0)}`;
  },
  error: async () => failing(await session(), 'select 1/0'),
  cancel: async () => {
    const client = await session();
    const query = new Query('select pg_sleep(60)');
    const state = new Promise<string | undefined>((resolve) => {
      query.once('error', (error: Error & { readonly code?: string }) => resolve(error.code));
      query.once('end', () => resolve('no error'));
    });
    client.query(query);
    await delay(300);
    new Client().cancel(client, query);
    return `${await state} ${await value(client, 'select 1')}`;
  },
  recovery: async () => value(await session(), RECOVERY),
  pool: async () => value(await session({ options: POOL }), RECOVERY),
};

async function keepWriting(pool: Pool): Promise<never> {
  for (;;) {
    const client = await pool.connect().catch((error: unknown) => tell('work', 'connect-error', textOf(error)));
    if (client === undefined) continue;
    try {
      tell('work', 'ok', await value(client, WRITE));
      await delay(100);
      client.release();
    } catch (error) {
      tell('work', 'statement-error', textOf(error));
      client.release(true);
    }
  }
}

if (process.argv[2] === 'work') {
  const pool = new Pool({ max: 3, ssl, enableChannelBinding });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  endWithInput();
  await Promise.all([1, 2, 3].map(() => keepWriting(pool)));
}
await runCases(cases);
