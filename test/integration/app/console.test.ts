// The console of the whole program: what it shows is what the program does, and it is there only where it is wanted.
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef';
let cluster: FakeCluster;
let lab: AppLab;

const fileWith = (admin: object): Readonly<Record<string, unknown>> =>
  fileFor([cluster.primary, cluster.replica], { admin: { address: '127.0.0.1:0', ...admin } });

async function show(name: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ ...lab.address('console'), user: 'x', database: 'pointsman', password: TOKEN });
  await client.connect();
  try {
    return (await client.query(`SHOW ${name}`)).rows;
  } finally {
    await client.end();
  }
}

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
});

describe('with an address', () => {
  beforeEach(async () => {
    lab = await AppLab.start(fileWith({ token: TOKEN, console: { address: '127.0.0.1:0' } }));
  });

  test('pools, members and databases are those of the program', async () => {
    const session = await connectRaw(lab.address('write'));
    session.socket.write(aStartup());
    await until('the session', () => session.received().length > 0);
    expect(await show('POOLS')).toMatchObject([
      { database: 'write', cl_active: 1, sv_active: 1, cl_waiting: 0, maxwait: 0, route: 'open', members: 'pg-1' },
      { database: 'read', cl_active: 0, route: 'open', members: 'pg-2' },
    ]);
    expect(await show('MEMBERS')).toMatchObject([
      { name: 'pg-1', role: 'primary', sessions: 1, pools: 'write=open read=leave' },
      { name: 'pg-2', role: 'replica', sessions: 0, pools: 'write=leave read=open' },
    ]);
    const { port } = cluster.primary.postgres.address;
    expect((await show('DATABASES'))[0]).toMatchObject({ name: 'write', host: '127.0.0.1', port, paused: 0 });
    const client = `127.0.0.1:${session.socket.localPort}`;
    expect(await show('SESSIONS')).toMatchObject([
      { pool: 'write', member: 'pg-1', client, user: 'app', database: 'shop', state: 'relaying' },
    ]);
    expect(await show('CLIENTS')).toMatchObject([{ database: 'write', state: 'active', user: 'app', link: 'pg-1' }]);
    expect(await show('SERVERS')).toMatchObject([{ addr: '127.0.0.1', port, state: 'active' }]);
    session.socket.destroy();
  });

  test('a client that waits is counted, with its time', async () => {
    cluster.primary.api.set({ role: 'replica' });
    await until('the hold', async () => (await show('POOLS'))[0]?.['route'] === 'hold');
    const waiting = await connectRaw(lab.address('write'));
    waiting.socket.write(aStartup());
    const pool = await until('the wait', async () => {
      const [write] = await show('POOLS');
      return Number(write?.['maxwait_us']) > 0 && write;
    });
    expect(pool).toMatchObject({ cl_waiting: 1, cl_active: 0 });
    waiting.socket.destroy();
    await until('its end', async () => (await show('POOLS'))[0]?.['cl_waiting'] === 0);
    expect((await show('POOLS'))[0]).toMatchObject({ maxwait: 0, maxwait_us: 0 });
  });

  test('the configuration is shown without the token', async () => {
    const settings = await show('CONFIG');
    expect(settings).toContainEqual({ key: 'probe.rise', value: '1', default: '1', changeable: 'yes' });
    expect(settings.find(({ key }) => key === 'admin.console.address')).toMatchObject({ changeable: 'no' });
    expect(settings.find(({ key }) => key === 'admin.token')).toMatchObject({ value: '(not shown)' });
    expect(JSON.stringify(settings)).not.toContain(TOKEN);
  });

  test('a reload leaves the address as it is, and says so', async () => {
    const reloaded = await lab.reload(fileWith({ token: TOKEN, console: { address: '127.0.0.1:1' } }));
    expect(reloaded).toMatchObject({
      kind: 'reloaded',
      needsRestart: ['admin.console.address 127.0.0.1:0 -> 127.0.0.1:1'],
    });
    expect(await show('VERSION')).toEqual([{ version: 'Pointsman 0' }]);
  });

  test('it ends with the program, its clients too', async () => {
    const client = await connectRaw(lab.address('console'));
    await lab.app.stop();
    await until('the end', () => client.isClosed || client.hasEnded);
    client.socket.destroy();
  });
});

describe('without', () => {
  test('there is none', async () => {
    lab = await AppLab.start(fileWith({}));
    expect(lab.said('listening').map(({ pool }) => pool)).toEqual(['write', 'read', 'admin']);
  });

  test('an address in use stops the start, by its name', async () => {
    lab = await AppLab.start(fileWith({}));
    const taken = String(lab.said('listening').find(({ pool }) => pool === 'admin')?.['address']);
    await expect(AppLab.start(fileWith({ console: { address: taken } }))).rejects.toThrow(
      `admin.console.address ${taken} is already in use`,
    );
  });
});
