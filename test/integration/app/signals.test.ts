// The process and its signals, as an operator or an orchestrator sends them.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import { FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { startPointsman, startPointsmanFrom } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let pointsman: PointsmanProcess | undefined;

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  await pointsman?.stop();
  await cluster.stop();
});

function file(changes: ConfigFile = {}): ConfigFile {
  return {
    cluster: cluster.section(),
    listeners: [
      { address: '127.0.0.1:0', pool: 'write' },
      { address: '127.0.0.1:0', pool: 'read' },
    ],
    admin: { address: '127.0.0.1:0' },
    log: { level: 'debug', format: 'json' },
    ...changes,
  };
}

async function started(config: ConfigFile): Promise<PointsmanProcess> {
  pointsman = await startPointsman(config);
  await pointsman.waitUntilReady();
  return pointsman;
}

async function aSession(at: Address): Promise<RawClient> {
  const client = await connectRaw(at);
  client.socket.write(aStartup());
  await until('the session', () => client.received().length === aStartup().length);
  return client;
}

async function stillEchoes(client: RawClient): Promise<void> {
  const length = client.received().length + 'still there'.length;
  client.socket.write('still there');
  await until('the echo', () => client.received().length === length);
}

async function addressOf(process: PointsmanProcess, pool: string): Promise<Address> {
  return { host: '127.0.0.1', port: await process.port(pool) };
}

async function said(process: PointsmanProcess, text: string): Promise<void> {
  await process.waitFor(text, () => process.lines.some(({ msg }) => String(msg).includes(text)));
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('G14, scenario 39: not ready at once; listeners stay for the grace, sessions for the drain', async () => {
    const process = await started(file({ shutdown: { grace: '1s', drain_timeout: '1h' } }));
    const writes = await addressOf(process, 'write');
    const live = await aSession(writes);
    process.signal(signal);
    await process.waitFor('503', async () => (await process.admin('/readyz')).status === 503);
    const late = await aSession(writes);
    await stillEchoes(late);
    await process.waitFor('the end of the listener', () => refuses(writes));
    expect((await process.admin('/livez')).status).toBe(200);
    await stillEchoes(live);
    for (const { socket } of [live, late]) socket.end();
    expect(await process.exited()).toBe(0);
  });

  test('scenario 39: waiting clients get an error at the start of the drain; its deadline ends the rest', async () => {
    const process = await started(file({ shutdown: { grace: 0, drain_timeout: '100ms' } }));
    const live = await aSession(await addressOf(process, 'write'));
    cluster.primary.api.set({ hasLock: false, role: 'replica' });
    await until('the eviction', () => live.hasEnded || live.isClosed);
    const waiting = await connectRaw(await addressOf(process, 'write'));
    waiting.socket.write(aStartup());
    await process.waitFor('the hold', async () => (await process.metric('pointsman_held_clients{pool="write"}')) === 1);
    process.signal(signal);
    expect(await until('the error', () => errorFields(waiting.received()))).toMatchObject({ C: '57P03' });
    expect(await process.exited()).toBe(0);
  });

  test('scenario 39: a second signal ends the process at once; exit code 1', async () => {
    const process = await started(file({ shutdown: { grace: '1h', drain_timeout: '1h' } }));
    await aSession(await addressOf(process, 'write'));
    process.signal(signal);
    await said(process, 'shutting down');
    process.signal(signal);
    expect(await process.exited()).toBe(1);
  });
});

test('scenario 39: SIGTERM under load: clients that follow readiness see no error; idle sessions get one', async () => {
  cluster.primary.postgres.behaviour = 'obliging';
  const process = await started(file({ shutdown: { grace: '2s', drain_timeout: '1h' } }));
  const login = { ...(await addressOf(process, 'write')), user: 'app', database: 'shop' };
  const idle = new Client(login);
  const told: unknown[] = [];
  idle.on('error', (error) => told.push(error));
  await idle.connect();
  const load = { goesOn: true };
  let served = 0;
  const errors: unknown[] = [];
  const workers = Array.from({ length: 10 }, async () => {
    while (load.goesOn) {
      const client = new Client(login);
      client.on('error', (error) => errors.push(error));
      await client.connect();
      await client.query('select 1');
      await client.end();
      served += 1;
    }
  });
  await until('load', () => served > 100);
  process.signal('SIGTERM');
  await process.waitFor('503', async () => (await process.admin('/readyz')).status === 503);
  load.goesOn = false;
  await Promise.all(workers);
  expect(errors).toEqual([]);
  expect(told).toEqual([]);
  expect(await process.exited()).toBe(0);
  expect(told[0]).toMatchObject({ code: '57P01', message: 'pointsman: the proxy is shutting down (shutdown)' });
  expect(cluster.primary.postgres.open()).toBe(0);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s before the start is complete ends it; exit code 0', async (signal) => {
  // A read of this file blocks until another process writes to it.
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-signals-'));
  const tokenFile = join(directory, 'token');
  execFileSync('mkfifo', [tokenFile]);
  try {
    pointsman = await startPointsman(file({ admin: { address: '127.0.0.1:0', token_file: tokenFile } }));
    const writer = await open(tokenFile, 'w');
    pointsman.signal(signal);
    await said(pointsman, 'stopped by a signal before the start was complete');
    // Node waits for the read before it ends.
    await writer.close();
    expect(await pointsman.exited()).toBe(0);
    expect(pointsman.lines.filter(({ event }) => event === 'listening')).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

async function refuses(address: Address): Promise<boolean> {
  try {
    (await connectRaw(address)).socket.destroy();
    return false;
  } catch {
    return true;
  }
}

/** Cuts the file in the middle of the listeners. */
async function halve(path: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.slice(0, text.indexOf('address') + 'addr'.length));
}

describe('SIGHUP', () => {
  const applied = 'pointsman_config_reloads_total{outcome="applied"}';
  const successful = 'pointsman_config_last_reload_successful';

  test('scenario 39: a broken file changes nothing and is reported; the next good one counts', async () => {
    const process = await started(file());
    const [spare] = await freeAddresses(1);
    if (spare === undefined) throw new Error('no free port');
    const live = await aSession(await addressOf(process, 'write'));

    await process.configure('listeners:\n  - { address: "127.0.0.1:1", pool: wriet }\nprobe: { interval: 5 }\n');
    process.signal('SIGHUP');
    await said(process, 'configuration reload failed, nothing changed');
    await said(process, 'pointsman.yaml:3:20: probe.interval: 5 has no unit');
    expect(await process.metric(successful)).toBe(0);
    await stillEchoes(live);
    await stillEchoes(await aSession(await addressOf(process, 'read')));

    const listeners = [
      { address: '127.0.0.1:0', pool: 'write' },
      { address: `127.0.0.1:${spare.port}`, pool: 'read' },
    ];
    await process.configure(file({ listeners, probe: { interval: '2s' } }));
    process.signal('SIGHUP');
    await said(process, 'configuration reloaded: probe.interval 1s -> 2s, listeners');
    expect(await process.metric(successful)).toBe(1);
    expect(await process.metric(applied)).toBe(1);
    await stillEchoes(live);
    await stillEchoes(await aSession(spare));
  });

  test.each<[string, (path: string) => Promise<unknown>, string]>([
    ['half-written', halve, 'pointsman.yaml:'],
    ['unreadable', async (path) => (await rm(path), mkdir(path)), 'cannot be read'],
    ['gone', rm, 'cannot be read'],
    ['empty', (path) => writeFile(path, ''), 'pointsman.yaml'],
  ])('scenario 39: a file that is %s: nothing changes, and the log says so', async (_, spoil, why) => {
    const process = await started(file());
    const live = [await aSession(await addressOf(process, 'write')), await aSession(await addressOf(process, 'read'))];
    await spoil(process.file);
    process.signal('SIGHUP');
    await said(process, 'configuration reload failed, nothing changed');
    await said(process, why);
    expect(await process.metric(successful)).toBe(0);
    for (const client of live) await stillEchoes(client);
    await stillEchoes(await aSession(await addressOf(process, 'write')));
    await stillEchoes(await aSession(await addressOf(process, 'read')));
    expect((await process.admin('/readyz')).status).toBe(200);
  });

  test('without a file a reload reads nothing, and the log says so', async () => {
    pointsman = await startPointsmanFrom({
      POINTSMAN_CLUSTER_SEEDS: cluster.primary.api.url,
      POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:0',
      POINTSMAN_LISTENERS_0_ADDRESS: '127.0.0.1:0',
      POINTSMAN_LISTENERS_1_ADDRESS: '127.0.0.1:0',
    });
    await pointsman.port('admin');
    pointsman.signal('SIGHUP');
    await said(pointsman, 'there is no configuration file');
    expect(await pointsman.metric(applied)).toBe(0);
  });
});

test('SIGUSR1 opens no debugger, which every user of the machine could enter', async () => {
  const running = await started(file({ shutdown: { grace: '0s', drain_timeout: '0s' } }));
  running.signal('SIGUSR1');
  // Its answer comes when the process has taken the signal before it.
  running.signal('SIGHUP');
  await running.waitFor('the reload', () => running.lines.some(({ event }) => event === 'config_reloaded'));
  running.signal('SIGTERM');
  expect(await running.exited()).toBe(0);
  expect(running.stderr).toEqual([]);
});
