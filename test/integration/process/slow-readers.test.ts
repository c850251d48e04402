// Scenario 37: two hundred clients that do not read, before servers that send as fast as they can.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeCluster } from '../../support/app-lab.ts';
import { aStartup } from '../../support/packets.ts';
import { startPointsman } from '../../support/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/pointsman-process.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';

const SESSIONS = 200;
const FLOOD = Buffer.alloc(1024 * 1024, 7);
/** Of memory, per session: what a socket's stream and one chunk take, and room for what else the process does. */
const MOST_BYTES = 512 * 1024;

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

test.runIf(process.platform === 'linux')(
  'scenario 37: a slow reader against a fast backend, 200 times: memory bounded',
  async () => {
    const port = await pointsman.port('write');
    const { connections } = cluster.primary.postgres;
    const clients = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        const client = await connectRaw({ host: '127.0.0.1', port });
        client.socket.pause();
        client.socket.write(aStartup());
        return client;
      }),
    );
    await until(
      'the sessions',
      () => connections.filter(({ chunks }) => chunks.length > 0).length === SESSIONS,
      10_000,
    );
    const before = residentBytes();
    // A gigabyte and a half in all: of what is not sent nothing is copied, it is the same bytes again and again.
    for (const { socket } of connections) for (let times = 0; times < 8; times += 1) socket.write(FLOOD);
    let [seen, steady] = [-1, 0];
    await until(
      'standstill',
      () => {
        const unsent = connections.reduce((sum, { socket }) => sum + socket.writableLength, 0);
        steady = unsent === seen ? steady + 1 : 0;
        seen = unsent;
        return steady > 1_000;
      },
      15_000,
    );
    expect(residentBytes() - before).toBeLessThan(SESSIONS * MOST_BYTES);
    for (const { socket } of clients) socket.destroy();
    await until('their ends', () => connections.every(({ isClosed }) => isClosed), 10_000);
  },
  60_000,
);
