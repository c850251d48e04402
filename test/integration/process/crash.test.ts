// The process is killed and starts again. It needs no earlier knowledge, and routes no client before a new round of
// probes.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeCluster, fileFor, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { askingClient, echoSession, isOver, isServed } from '../../support/sockets/echo-session.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { until } from '../../support/waiting/until.ts';

const CLIENTS = 20;

let cluster: FakeCluster;
const processes: PointsmanProcess[] = [];

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  for (const process of processes.splice(0)) await process.stop();
  await cluster.stop();
});

async function started(file: ConfigFile): Promise<PointsmanProcess> {
  const process = await startPointsman(file);
  processes.push(process);
  return process;
}

test('G16: kill -9 under load and a restart: both sides see an end; no session before a new round', async () => {
  const [writes] = await freeAddresses(1);
  if (writes === undefined) throw new Error('no free port');
  const { primary, replica } = cluster;
  const file = fileFor([primary, replica], {
    listeners: [{ address: `${writes.host}:${writes.port}`, pool: 'write' }],
  });
  const first = await started(file);
  await first.waitUntilReady();
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => echoSession(writes)));
  const load = setInterval(() => {
    for (const { socket } of clients) if (socket.writable) socket.write(Buffer.alloc(100));
  }, 5);
  try {
    await until('bytes on their way', () => clients.every((client) => client.received().length > 1000));
    first.signal('SIGKILL');
    expect(await first.exited()).toBe('SIGKILL');
    await until('the end of every session', () => clients.every(isOver) && primary.postgres.open() === 0);
  } finally {
    clearInterval(load);
  }

  for (const { api } of [primary, replica]) api.set({ misbehave: 'hang' });
  const asked = primary.api.requests.length;
  const second = await started(file);
  await until('a probe', () => primary.api.requests.length > asked, 30_000);
  expect((await second.admin('/readyz')).status).toBe(503);
  const waiting = await askingClient(writes);
  for (const { api } of [primary, replica]) api.set({ misbehave: undefined });
  await second.waitUntilReady();
  await until('the session', () => isServed(waiting));
  expect(primary.postgres.last().received().length).toBe(waiting.received().length);
});
