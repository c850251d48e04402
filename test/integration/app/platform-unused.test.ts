// The running program never contacts the configured model platform: not for clients, an outage, its incident or a
// reload.
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { close, listen } from '../../support/sockets/listen.ts';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { echoSession } from '../../support/sockets/echo-session.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;
let isStopped: boolean;
let platform: Server;
let url: string;
let connections: number;

beforeEach(async () => {
  [connections, isStopped] = [0, false];
  platform = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  url = `http://127.0.0.1:${await listen(platform)}`;
  cluster = await FakeCluster.start();
  lab = await AppLab.start(file('read-me'));
});

afterEach(async () => {
  if (!isStopped) await lab.app.stop();
  await cluster.stop();
  await close(platform);
});

function file(key: string): ConfigFile {
  return fileFor([cluster.primary, cluster.replica], {
    probe: { interval: '100ms', timeout: '1s', urgent: { interval: '100ms', for: '1s' } },
    platform: { url, api_key_file: `/no-such-folder/${key}`, beta_header: 'vendor-beta' },
  });
}

async function incidentCount(): Promise<number> {
  const { incidents } = Object(JSON.parse(await lab.ask('/incidents')));
  return incidents.length;
}

test('a run with clients, an outage, its incident, a reload and a stop opens no socket to the platform', async () => {
  const { socket } = await echoSession(lab.address('write'));
  expect(await lab.ask('/config')).toContain(url);

  cluster.primary.api.set({ role: 'replica' });
  await until('an incident', async () => (await incidentCount()) > 0, 30_000);
  const { incidents } = Object(JSON.parse(await lab.ask('/incidents')));
  expect(await lab.ask(`/incidents/${incidents[0].id}`)).not.toContain(url);

  expect(await lab.reload(file('another'))).toMatchObject({ kind: 'reloaded' });
  socket.destroy();
  await lab.app.stop();
  isStopped = true;
  expect(connections).toBe(0);
  // The platform was there to be contacted.
  await fetch(url).catch(() => undefined);
  expect(connections).toBe(1);
});
