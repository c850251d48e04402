// A branch on a real PostgreSQL, through the proxy, with a real driver: two servers that share nothing.
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startKeptSandbox } from '../../../support/sandbox/kept-cluster.ts';
import { startSandbox } from '../../../../src/sandbox/start-sandbox.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { runTool, whyNoTool } from '../../../support/applications/client-tools.ts';
import { cancelRequestOf } from '../../../support/applications/cancel-key.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { foundAt } from '../../../support/values/branches.ts';
import { until } from '../../../support/waiting/until.ts';

function memberOf({ members: [member] }: Sandbox) {
  if (member === undefined) throw new Error('a sandbox without a member');
  const { name, host, port } = member;
  return { name, host, port };
}

const count = async (client: Client): Promise<unknown> =>
  (await client.query("select count(*)::int as n from pg_tables where tablename = 'previews'")).rows[0];

describeUnless(missingForSandbox, 'a branch on a real PostgreSQL', () => {
  let production: Sandbox;
  let preview: Sandbox;
  let lab: ProxyLab;
  const clients: Client[] = [];

  beforeAll(async () => {
    [production, preview] = await Promise.all([startKeptSandbox({ members: 1 }), startSandbox({ members: 1 })]);
    const { name, ...at } = memberOf(production);
    const branch = memberOf(preview);
    lab = await startProxyLab({
      table: { write: { open: { [name]: at } } },
      locateBranch: (target) => (target === 'pr-1' ? foundAt(branch) : { kind: 'unknown' }),
    });
  }, 120_000);

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    lab.proxy.close();
    await Promise.all([production.stop(), preview.stop()]);
  }, 60_000);

  async function connect(target: string, sandbox: Sandbox, more: ClientConfig = {}): Promise<Client> {
    const { app } = sandbox;
    const client = new Client({ ...lab.address('write'), ...app, database: `${app.database}${target}`, ...more });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  }

  test('the branch takes its own writes, and production does not have them', async () => {
    const [at, inProduction] = [await connect('@pr-1', preview), await connect('', production)];
    await at.query('create table previews (id int)');
    expect(await count(at)).toEqual({ n: 1 });
    expect(await count(inProduction)).toEqual({ n: 0 });
    expect((await at.query('select current_database() as name')).rows).toEqual([{ name: preview.app.database }]);
  });

  test('an unknown branch is a permanent error', async () => {
    await expect(connect('@pr-2', preview)).rejects.toMatchObject({ code: '3D000' });
  });

  test('a cancel request ends the query on the branch', async () => {
    const at = await connect('@pr-1', preview, { application_name: 'sleeper' });
    const other = await connect('@pr-1', preview);
    const slow = at.query('select pg_sleep(60)');
    const ended = expect(slow).rejects.toMatchObject({ code: '57014' });
    const sleeps = "select 1 from pg_stat_activity where application_name = 'sleeper' and state = 'active'";
    await until('the query', async () => (await other.query(sleeps)).rowCount === 1);
    (await connectRaw(lab.address('write'))).socket.write(cancelRequestOf(at));
    await ended;
    expect((await at.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
  });

  test.skipIf(whyNoTool('psql') !== undefined)('psql reaches the branch by the name of its database', async () => {
    const to = { port: lab.address('write').port, as: { ...preview.app, database: `${preview.app.database}@pr-1` } };
    expect(await runTool('psql', to, ['-Atc', 'select current_database()'])).toBe(preview.app.database);
    const unknown = runTool('psql', { ...to, as: { ...to.as, database: 'app@pr-2' } }, ['-c', 'select 1']);
    await expect(unknown).rejects.toThrow(
      /unknown pool or branch \(unknown_branch\)[^]*no pool or branch named "pr-2"/,
    );
  });

  test('its server stops and starts again while a client waits', async () => {
    const { name } = memberOf(preview);
    const before = await connect('@pr-1', preview);
    await preview.kill(name);
    await until('the end of its session', () => lab.reasons().some((reason) => reason.startsWith('backend_')));
    const waiting = connect('@pr-1', preview);
    await until('the wait', () => lab.proxy.counts().get('branches')?.states.holding === 1);
    await preview.heal(name);
    const client = await waiting;
    expect((await client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await before.end().catch(() => {});
  });
});
