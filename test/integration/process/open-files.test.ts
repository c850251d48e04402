// The limit on open files: the start computes the sessions that fit, and no number of clients takes the descriptors of
// probes and the admin port.
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { askingClient, echoSession, isOver, isServed, stillEchoes } from '../../support/sockets/echo-session.ts';
import { errorFields } from '../../support/sockets/packets.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';

const NO_PRLIMIT = existsSync('/proc/self/limits') ? undefined : 'Linux, with /proc and prlimit';
const LIMIT = 256;
const CLIENTS = 600;
const PROBE = { interval: '200ms', timeout: '200ms', write_max_age: '1s', read_max_age: '1s', silence_grace: '2s' };

let cluster: FakeCluster;
let pointsman: PointsmanProcess | undefined;
const clients: RawClient[] = [];

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await pointsman?.stop();
  pointsman = undefined;
  await cluster.stop();
});

async function start(openFiles: number, changes: ConfigFile = {}): Promise<PointsmanProcess> {
  const file = fileFor([cluster.primary, cluster.replica], { probe: PROBE, ...changes });
  pointsman = await startPointsman(file, {}, { openFiles });
  return pointsman;
}

function isTold(client: RawClient): boolean {
  return errorFields(client.received())?.['C'] === '53300';
}

describeUnless(NO_PRLIMIT, 'the limit on open files', () => {
  for (const workers of [1, 2]) {
    it(`${LIMIT}, ${workers} processes: ${CLIENTS} clients: each is served or gets 53300`, async () => {
      const running = await start(LIMIT, { workers });
      await running.waitUntilReady();
      const at = { host: '127.0.0.1', port: await running.port('write') };
      const canary = await echoSession(at);
      clients.push(canary);
      clients.push(...(await Promise.all(Array.from({ length: CLIENTS }, () => askingClient(at)))));
      const crowd = clients.slice(1);
      await until('an answer to each', () => crowd.every((client) => isServed(client) || isTold(client)), 10_000);
      const served = crowd.filter((client) => isServed(client));
      expect(served.length).toBeGreaterThan(20);
      expect(served.length).toBeLessThan((workers * LIMIT) / 2);

      const asked = cluster.primary.api.requests.length;
      await until(
        'probes for longer than silence_grace',
        () => cluster.primary.api.requests.length > asked + 12,
        10_000,
      );
      expect((await running.admin('/livez')).status).toBe(200);
      await stillEchoes(canary);
      expect(served.some(isOver)).toBe(false);
      const unsent = running.lines.filter(({ outcome }) => outcome === 'local');
      expect(unsent).toEqual([]);
      const { open_files: files } = JSON.parse((await running.admin('/status')).text);
      expect(files).toMatchObject({ limit: LIMIT });
      expect(files.in_use).toBeLessThan(LIMIT);
      expect(files.most_sessions).toBeLessThan((workers * LIMIT) / 2);
      expect(await running.metric('process_max_fds')).toBe(LIMIT);
      expect(running.lines.filter(({ event }) => event === 'open_files_limit')).toEqual([
        expect.objectContaining({ level: 'warn', limit: LIMIT, sessions: files.most_sessions, max_sessions: 5000 }),
      ]);
    }, 60_000);
  }

  it('a limit too low for any session prevents the start', async () => {
    const running = await start(150);
    expect(await running.exited()).toBe(1);
    expect(running.stderr.join('')).toContain('the limit on open files (150) is too low');
  });

  it('a sufficient limit causes no log line', async () => {
    const running = await start(1024, { client: { max_sessions: 100 } });
    await running.waitUntilReady();
    expect(running.lines.some(({ event }) => event === 'open_files_limit')).toBe(false);
  });
});
