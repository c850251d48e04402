// A live session goes from a real PostgreSQL server to the same server, between two transactions: its client notices
// nothing, and everything it had is still there.
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { missingForSandbox } from '../../../support/clusters/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';

type Way = Pick<ProxyLabOptions, 'client' | 'relay'>;

const WAYS: readonly (readonly [string, Way])[] = [
  ['relay: auto', { relay: 'auto' }],
  ['relay: streams', { relay: 'streams' }],
];

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

describeUnless(missingForSandbox, 'moves at a real PostgreSQL', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  const clients: Client[] = [];

  beforeAll(async () => {
    login = await startLoginServer('embedded');
    await login.run('create role mover login', 'create table kept (n int)', 'grant all on kept to mover');
    await login.permit('host all mover 127.0.0.1/32 trust');
  }, 60_000);

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    lab.proxy.close();
  });

  afterAll(() => login.close());

  async function start(way: Way): Promise<void> {
    const { name, host, port } = login.server;
    lab = await startProxyLab({ ...way, moves: {}, table: { write: { open: { [name]: { host, port } } } } });
  }

  async function connect(more: ClientConfig = {}): Promise<Client> {
    const client = new Client({ ...lab.address('write'), user: 'mover', database: 'postgres', ...more });
    clients.push(client);
    await client.connect();
    return client;
  }

  test.each(WAYS)('%s: settings and prepared statements go along', async (_, way) => {
    await start(way);
    const client = await connect();
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error)).on('notice', (notice) => errors.push(notice));
    await client.query("set work_mem = '7MB'");
    const twice = { name: 'twice', text: 'select $1::int * 2 as n' };
    await client.query({ ...twice, values: [1] });
    const pids = new Set([await pidOf(client)]);
    for (let round = 0; round < 3; round += 1) {
      expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved', from: 'node-1', to: 'node-1' });
      expect((await client.query({ ...twice, values: [round] })).rows).toEqual([{ n: round * 2 }]);
      expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
      pids.add(await pidOf(client));
    }
    expect(pids.size).toBe(4);
    expect(errors).toEqual([]);
  });
});
