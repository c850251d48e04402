// Scenario 30: client features with a real PostgreSQL, through the proxy. The effect is the same as without a proxy.
// One server of the sandbox; the routing table is the test's.
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startKeptSandbox } from '../../../support/sandbox/kept-cluster.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { cancelRequestOf } from '../../../support/applications/cancel-key.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';

const SLEEPING = "select 1 from pg_stat_activity where query = 'select pg_sleep(60)'";

describeUnless(missingForSandbox, 'a real PostgreSQL behind the proxy', () => {
  let sandbox: Sandbox;
  let lab: ProxyLab;
  const clients: Client[] = [];

  beforeAll(async () => {
    sandbox = await startKeptSandbox({ members: 1 });
    const [member] = sandbox.members;
    if (member === undefined) throw new Error('a sandbox without a member');
    const { name, host, port } = member;
    lab = await startProxyLab({ table: { write: { open: { [name]: { host, port } } } } });
  }, 60_000);

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    lab.proxy.close();
    await sandbox.stop();
  });

  async function connect(more: ClientConfig = {}): Promise<Client> {
    const client = new Client({ ...lab.address('write'), ...sandbox.app, ...more });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  }

  test('scenario 30: simple and extended protocol, named statements, errors, and large values', async () => {
    const client = await connect();
    const big = 'é'.repeat(3_000_000);
    expect((await client.query('select 1 as one; select 2 as two')) as unknown).toMatchObject([
      { rows: [{ one: 1 }] },
      { rows: [{ two: 2 }] },
    ]);
    for (const n of [1, 2]) {
      const { rows } = await client.query({ name: 'twice', text: 'select $1::int * 2 as n', values: [n] });
      expect(rows).toEqual([{ n: n * 2 }]);
    }
    const { rows } = await client.query<{ back: string }>('select $1::text as back', [big]);
    expect(rows[0]?.back).toBe(big);
    await expect(client.query('select 1/0')).rejects.toMatchObject({ code: '22012' });
    expect((await client.query('select 3 as n')).rows).toEqual([{ n: 3 }]);
  });

  test('scenario 30: LISTEN and NOTIFY reach a silent client', async () => {
    const [listening, telling] = [await connect(), await connect()];
    const heard: unknown[] = [];
    listening.on('notification', ({ channel, payload }) => heard.push([channel, payload]));
    await listening.query('listen news');
    await telling.query("notify news, 'the primary has changed'");
    await until('the notification', () => heard.length > 0);
    expect(heard).toEqual([['news', 'the primary has changed']]);
  });

  test('scenario 30: large objects, in one transaction', async () => {
    const client = await connect();
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
    await client.query('begin');
    const { rows } = await client.query<{ oid: number }>('select lo_from_bytea(0, $1) as oid', [bytes]);
    const read = await client.query<{ data: Buffer }>('select lo_get($1) as data', [rows[0]?.oid]);
    await client.query('commit');
    expect(read.rows[0]?.data.equals(bytes)).toBe(true);
  });

  test('scenario 30: a replication connection is a session like any other', async () => {
    const { user, password } = sandbox.superuser;
    const client = await connect({ user, password, database: 'postgres', replication: 'database' } as ClientConfig);
    const { rows } = await client.query<{ systemid: string; dbname: string }>('IDENTIFY_SYSTEM');
    expect(rows).toMatchObject([{ systemid: expect.stringMatching(/^\d+$/), dbname: 'postgres' }]);
  });

  test('scenario 35: a cancel request ends its query, and the session goes on', async () => {
    const client = await connect();
    const other = await connect();
    const slow = client.query('select pg_sleep(60)');
    const ended = expect(slow).rejects.toMatchObject({ code: '57014' });
    await waitUntil('the query', async () => (await other.query(SLEEPING)).rowCount === 1, { timeoutMs: 5_000 });
    const canceller = await connectRaw(lab.address('write'));
    canceller.socket.write(cancelRequestOf(client));
    await ended;
    expect((await client.query('select 4 as n')).rows).toEqual([{ n: 4 }]);
    expect((await other.query('select 5 as n')).rows).toEqual([{ n: 5 }]);
  });

  test('the server itself reports a wrong password, and no member loses trust', async () => {
    await expect(connect({ password: 'wrong' })).rejects.toMatchObject({ code: '28P01' });
    await expect(connect({ database: 'nowhere' })).rejects.toMatchObject({ code: '3D000' });
    expect(lab.reasons().filter((reason) => reason === 'internal_error')).toEqual([]);
  });
});
