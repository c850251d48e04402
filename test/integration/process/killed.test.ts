// Scenario 40: kill -9 and a restart. The process keeps no state, so no state can be wrong.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import type { Address } from '../../../src/model/member.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let pointsman: PointsmanProcess;
let writes: Address;
let config: ConfigFile;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  const [free] = await freeAddresses(1);
  if (free === undefined) throw new Error('no free port');
  writes = free;
  config = {
    cluster: cluster.section(),
    // The probes wait for slow answers.
    probe: { interval: '1s', timeout: '10s', write_max_age: '30s', read_max_age: '30s', silence_grace: '30s' },
    listeners: [{ address: `127.0.0.1:${writes.port}`, pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
    log: { level: 'debug', format: 'json' },
  };
  pointsman = await startPointsman(config);
  await pointsman.waitUntilReady();
});

afterEach(async () => {
  await pointsman.stop();
  await cluster.stop();
});

async function aClient(): Promise<RawClient> {
  const client = await connectRaw(writes);
  client.socket.write(aStartup());
  return client;
}

/** A client that sends again after each answer, until its connection ends. */
async function aTalker(): Promise<RawClient> {
  const client = await aClient();
  client.socket.on('data', (chunk: Buffer) => {
    if (client.socket.writable) client.socket.write(chunk);
  });
  return client;
}

test(
  'scenario 40: under load: clients and servers see the end; the next process is ready after a round',
  { timeout: 60_000 },
  async () => {
    const { postgres } = cluster.primary;
    const talkers = await Promise.all(Array.from({ length: 50 }, aTalker));
    await until('load', () => talkers.every((client) => client.received().length > 1_000), 20_000);
    pointsman.signal('SIGKILL');
    expect(await pointsman.exited()).toBe('SIGKILL');
    await until('the ends', () => talkers.every((client) => client.isClosed || client.hasEnded));
    await until('the servers’ ends', () => postgres.connections.every((connection) => connection.isClosed));

    for (const { api } of [cluster.primary, cluster.replica]) api.set({ delayMs: 1_000 });
    const before = postgres.clients();
    await pointsman.stop();
    pointsman = await startPointsman(config);
    await pointsman.port('write');
    const early = await aClient();
    expect((await pointsman.admin('/readyz')).status).toBe(503);
    await pointsman.waitFor(
      'the hold',
      async () => (await pointsman.metric('pointsman_held_clients{pool="write"}')) === 1,
    );
    expect(postgres.clients()).toBe(before);
    await pointsman.waitUntilReady();
    await until('the session', () => early.received().equals(aStartup()));
    for (const { socket } of talkers) socket.destroy();
  },
);
