// Scenario 37: two hundred clients that do not read, ten at a time, before servers that send at full speed.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { FakeCluster } from '../../support/labs/app-lab.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import type { BackendConnection } from '../../support/fakes/fake-backend.ts';
import { until } from '../../support/waiting/until.ts';

const ROUNDS = 20;
const AT_A_TIME = 10;
/** Per session. The kernel keeps far less than this between two sockets. */
const FLOOD = { chunk: Buffer.alloc(1024 * 1024, 7), times: 128 };
/** The growth that the process may have, uncollected garbage included: a fifth of one round's flood. */
const MOST_BYTES = (AT_A_TIME * FLOOD.times * FLOOD.chunk.length) / 5;

let cluster: FakeCluster;
let pointsman: PointsmanProcess;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  cluster.primary.postgres.behaviour = 'silent';
  pointsman = await startPointsman({
    cluster: cluster.section(),
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
    log: { level: 'info', format: 'json' },
  });
  await pointsman.waitUntilReady();
});

afterEach(async () => {
  await pointsman.stop();
  await cluster.stop();
});

function residentBytes(): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pointsman.pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

async function slowReaders(port: number): Promise<readonly RawClient[]> {
  const readers: RawClient[] = [];
  while (readers.length < AT_A_TIME) {
    const client = await connectRaw({ host: '127.0.0.1', port });
    client.socket.pause();
    client.socket.write(aStartup());
    readers.push(client);
  }
  return readers;
}

/** Resolves when the servers can send no more: the event loop of Pointsman turns, and no byte moves. */
async function flood(connections: readonly BackendConnection[]): Promise<void> {
  for (const { socket } of connections) {
    for (let times = 0; times < FLOOD.times; times += 1) socket.write(FLOOD.chunk);
  }
  let [seen, steady] = [-1, 0];
  while (steady < 30) {
    await pointsman.admin('/livez');
    const unsent = connections.reduce((sum, { socket }) => sum + socket.writableLength, 0);
    steady = unsent === seen ? steady + 1 : 0;
    seen = unsent;
  }
}

itUnless(
  process.platform === 'linux' ? undefined : 'Linux, whose /proc tells of memory',
  'scenario 37: a slow reader against a fast server, 200 times: limited memory',
  async () => {
    const port = await pointsman.port('write');
    const { postgres } = cluster.primary;
    const before = residentBytes();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const readers = await slowReaders(port);
      const isThere = () => postgres.connections.filter(({ chunks }) => chunks.length > 0).length === round * AT_A_TIME;
      await until('the sessions', isThere, 10_000);
      await flood(postgres.connections.slice(-AT_A_TIME));
      expect(residentBytes() - before).toBeLessThan(MOST_BYTES);
      for (const { socket } of readers) socket.destroy();
      await until('their ends', () => postgres.open() === 0, 10_000);
    }
  },
  120_000,
);
