// A reload of the whole program: its effects, and the parts that it leaves alone (G15).
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import { AppLab, FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { listen } from '../../support/sockets/listen.ts';
import { waitUntil } from '../../support/waiting/wait.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;
let writes: Address;
let reads: Address;
let spare: Address;
let other: Address;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  const [a, b, c, d] = await freeAddresses(4);
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('no free ports');
  [writes, reads, spare, other] = [a, b, c, d];
  lab = await AppLab.start(file());
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
});

function listener({ host, port }: Address, pool: string): { readonly address: string; readonly pool: string } {
  return { address: `${host}:${port}`, pool };
}

function file(changes: ConfigFile = {}): ConfigFile {
  return {
    cluster: cluster.section(),
    listeners: [listener(writes, 'write'), listener(reads, 'read')],
    admin: { address: '127.0.0.1:0' },
    ...changes,
  };
}

async function aSession(at: Address): Promise<RawClient> {
  const client = await connectRaw(at);
  client.socket.write(aStartup());
  await until('the session', () => client.received().length === aStartup().length);
  return client;
}

async function stillEchoes(client: RawClient): Promise<void> {
  const before = client.received();
  const words = `still there, with ${before.length} bytes`;
  client.socket.write(words);
  const after = await until('the echo', () => client.received().length === before.length + words.length);
  expect(after).toBe(true);
  expect(client.received().equals(Buffer.concat([before, Buffer.from(words)]))).toBe(true);
  expect(client.hasEnded || client.isClosed).toBe(false);
}

test('G15, scenario 39: an invalid file changes nothing, is logged, and shows in a metric until repaired', async () => {
  const [writer, reader] = [await aSession(writes), await aSession(reads)];
  expect(await lab.metric('pointsman_config_last_reload_successful')).toBe(1);
  const answer = await lab.reload(file({ listeners: [listener(spare, 'wriet')], probe: { interval: 5 } }));
  expect(answer).toEqual({
    kind: 'failed',
    problems: expect.arrayContaining([expect.stringContaining('5 has no unit')]),
  });
  await stillEchoes(writer);
  await stillEchoes(reader);
  await expect(connectRaw(spare)).rejects.toThrow('ECONNREFUSED');
  await aSession(writes);
  expect(lab.said('config_reload_failed')).toHaveLength(1);
  expect(await lab.metric('pointsman_config_last_reload_successful')).toBe(0);
  expect(await lab.metric('pointsman_config_reloads_total{outcome="failed"}')).toBe(1);

  expect(await lab.reload(file())).toEqual({ kind: 'reloaded', changed: [], needsRestart: [] });
  expect(await lab.metric('pointsman_config_last_reload_successful')).toBe(1);
  expect(await lab.metric('pointsman_config_reloads_total{outcome="applied"}')).toBe(1);
});

test('scenario 39: one listener moves: the sessions of the other live on, byte streams unbroken', async () => {
  const writer = await aSession(writes);
  const reader = await aSession(reads);
  const sent: string[] = [];
  let isDone = false;
  const talk = (): void => {
    if (isDone) return;
    sent.push(`${sent.length};`);
    writer.socket.write(sent.at(-1) ?? '');
    setImmediate(talk);
  };
  talk();
  const reloaded = await lab.reload(file({ listeners: [listener(writes, 'write'), listener(spare, 'read')] }));
  expect(reloaded).toEqual({ kind: 'reloaded', changed: ['listeners'], needsRestart: [] });
  await expect(connectRaw(reads)).rejects.toThrow('ECONNREFUSED');
  await aSession(spare);
  isDone = true;
  const whole = Buffer.concat([aStartup(), Buffer.from(sent.join(''))]);
  await until('every byte', () => writer.received().length === whole.length);
  expect(writer.received().equals(whole)).toBe(true);
  await stillEchoes(reader);
  expect(lab.reasons()).toEqual([]);
});

test('sessions of a removed listener drain: they end at the deadline, and no others do', async () => {
  await lab.reload(file({ pools: { read: { drain_timeout: '1ms' } } }));
  const reader = await aSession(reads);
  const writer = await aSession(writes);
  await lab.reload(file({ pools: { read: { drain_timeout: '1ms' } }, listeners: [listener(writes, 'write')] }));
  await until('the end', () => reader.isClosed);
  expect(lab.said('session_closed')).toEqual([
    expect.objectContaining({
      pool: 'read',
      reason: 'evicted_removed',
      msg: expect.stringContaining(`listener 127.0.0.1:${reads.port} is no longer configured`),
    }),
  ]);
  await stillEchoes(writer);
});

test('a listener with another pool: new connections use it, live sessions stay in their pool', async () => {
  const reader = await aSession(reads);
  await lab.reload(file({ listeners: [listener(writes, 'write'), listener(reads, 'write')] }));
  const writer = await aSession(reads);
  expect(cluster.primary.postgres.open()).toBe(1);
  expect(cluster.replica.postgres.open()).toBe(1);
  await stillEchoes(reader);
  await stillEchoes(writer);
});

test('a new pool with a new check and a listener of its own works without touching others', async () => {
  cluster.replica.api.set({ tags: { use: 'reports' } });
  const [writer, reader] = [await aSession(writes), await aSession(reads)];
  const reloaded = await lab.reload(
    file({
      pools: { reports: { check: '/read-only?tag_use=reports' } },
      listeners: [listener(writes, 'write'), listener(reads, 'read'), listener(spare, 'reports')],
    }),
  );
  expect(reloaded).toEqual({ kind: 'reloaded', changed: ['listeners', 'pools.reports added'], needsRestart: [] });
  const report = await aSession(spare);
  expect(cluster.replica.postgres.open()).toBe(2);
  for (const client of [writer, reader, report]) await stillEchoes(client);
  expect(await lab.metric('pointsman_listener_accepted_total{pool="reports"}')).toBe(1);
  expect(await lab.metric('pointsman_pool_route{pool="reports",route="open"}')).toBe(1);
  expect(lab.reasons()).toEqual([]);
});

test('another check for a pool in use: its sessions stay while the members are probed', async () => {
  const [writer, reader] = [await aSession(writes), await aSession(reads)];
  await lab.reload(
    file({ pools: { write: { check: '/leader' }, read: { check: '/replica?lag=1MB', fallback: 'none' } } }),
  );
  const [next, second] = [await aSession(writes), await aSession(reads)];
  for (const client of [writer, reader, next, second]) await stillEchoes(client);
  expect(lab.reasons()).toEqual([]);
});

test('a removed pool: shared, its sessions drain; exclusive, they end; waiting clients get an error', async () => {
  const pools = {
    reports: { check: '/read-only', drain_timeout: '1h' },
    standby: { check: '/standby-leader' },
    admins: { check: '/primary', exclusive: true },
  };
  const [fourth] = await freeAddresses(1);
  if (fourth === undefined) throw new Error('no free port');
  await lab.reload(
    file({
      pools,
      listeners: [
        listener(writes, 'write'),
        listener(spare, 'reports'),
        listener(other, 'admins'),
        listener(fourth, 'standby'),
      ],
    }),
  );
  const [writer, report, admin] = [await aSession(writes), await aSession(spare), await aSession(other)];
  const waiting = await connectRaw(fourth);
  waiting.socket.write(aStartup());
  await waitUntil('the hold', async () => (await lab.metric('pointsman_held_clients{pool="standby"}')) === 1, {
    timeoutMs: 5000,
  });
  await lab.reload(file());
  await until('the ends', () => admin.isClosed && waiting.hasEnded);
  expect(waiting.received().toString()).toContain('(no_route)');
  await stillEchoes(report);
  await stillEchoes(writer);
  expect(await lab.metric('pointsman_pool_route{pool="reports",route="open"}')).toBeUndefined();
});

test('G15, scenario 39: an address in use: nothing changes, and no other new address stays bound', async () => {
  const writer = await aSession(writes);
  const taken = createServer();
  await listen(taken, { port: other.port });
  const reloaded = await lab.reload(
    file({ probe: { interval: '2s' }, listeners: [listener(spare, 'write'), listener(other, 'read')] }),
  );
  taken.close();
  expect(reloaded).toEqual({
    kind: 'failed',
    problems: [`127.0.0.1:${other.port} is in use by another process`],
  });
  await expect(connectRaw(spare)).rejects.toThrow('ECONNREFUSED');
  await aSession(reads);
  await stillEchoes(writer);
  expect(await lab.metric('pointsman_config_last_reload_successful')).toBe(0);
  expect(await lab.reload(file({ probe: { interval: '2s' } })), 'the interval had not been applied').toEqual({
    kind: 'reloaded',
    changed: ['probe.interval 1s -> 2s'],
    needsRestart: [],
  });
});

test('settings that need a restart are named and not applied; the rest is applied', async () => {
  const reloaded = await lab.reload(file({ admin: { address: '127.0.0.1:1' }, log: { level: 'debug' } }));
  expect(reloaded).toEqual({
    kind: 'reloaded',
    changed: ['log.level info -> debug'],
    needsRestart: ['admin.address 127.0.0.1:0 -> 127.0.0.1:1'],
  });
  expect(lab.said('config_reloaded')).toMatchObject([
    { level: 'warn', needs_restart: ['admin.address 127.0.0.1:0 -> 127.0.0.1:1'] },
  ]);
  expect(await lab.metric('pointsman_config_last_reload_successful')).toBe(1);
  await aSession(reads);
  await until('lines of level debug', () => lab.said('session_opened').length > 0);
});

test('a member that is no longer configured leaves, although it answers; on_leave applies', async () => {
  const pools = { read: { on_leave: { removed: 'close' } } };
  await lab.reload(file({ pools }));
  const [writer, reader] = [await aSession(writes), await aSession(reads)];
  const reloaded = await lab.reload(file({ pools, cluster: cluster.section(cluster.primary) }));
  expect(reloaded).toEqual({ kind: 'reloaded', changed: ['cluster.members'], needsRestart: [] });
  await until('the end', () => reader.isClosed);
  expect(lab.reasons()).toEqual(['evicted_removed']);
  expect(lab.said('members_changed').at(-1)).toMatchObject({ added: [], removed: ['pg-2'] });
  await stillEchoes(writer);
  await aSession(reads);
  expect(cluster.primary.postgres.open(), 'reads fall back').toBe(2);
});

test('several reloads at once run one after the other; the last one counts', async () => {
  const changes = [spare, other, reads].map((at) =>
    file({ listeners: [listener(writes, 'write'), listener(at, 'read')] }),
  );
  const answers = await Promise.all(changes.map((one) => lab.reload(one)));
  expect(answers.map(({ kind }) => kind)).toEqual(['reloaded', 'reloaded', 'reloaded']);
  await aSession(reads);
  await expect(connectRaw(spare)).rejects.toThrow('ECONNREFUSED');
  await expect(connectRaw(other)).rejects.toThrow('ECONNREFUSED');
});

test.each([0, 4])('the end of the program overtakes a reload (%i turns later): nothing is bound', async (turns) => {
  const reloading = lab.reload(file({ listeners: [listener(spare, 'write')] }));
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  await lab.app.stop();
  expect(await reloading).toEqual({ kind: 'failed', problems: ['shutting down'] });
  await expect(connectRaw(spare)).rejects.toThrow('ECONNREFUSED');
});

test('the end overtakes the drain and does not wait for its grace', async () => {
  await lab.reload(file({ shutdown: { grace: '1h', drain_timeout: '1h' } }));
  const writer = await aSession(writes);
  const drained = lab.app.drain();
  await stillEchoes(writer);
  await lab.app.stop();
  await drained;
  await until('the end', () => writer.hasEnded);
});
