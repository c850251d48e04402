// The usual events of sessions may wait for each other, and no reader notices.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Archive } from '../../../src/incidents/archive.ts';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-events-'));
  cluster = await FakeCluster.start();
  lab = await AppLab.start(file({}));
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
  await rm(directory, { recursive: true });
});

function file(log: ConfigFile): ConfigFile {
  return fileFor([cluster.primary, cluster.replica], {
    log,
    incidents: { directory },
    probe: { timeout: '2s', write_max_age: '9s' },
  });
}

/** A client that has the first bytes of its server. */
async function visit(): Promise<RawClient> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup({ user: 'app', database: 'shop' }));
  await until('the echo', () => client.received().length > 0);
  return client;
}

async function untilWritesAre(action: string): Promise<void> {
  await until(`writes: ${action}`, () => {
    const newest = lab.said('route_changed').findLast(({ pool }) => pool === 'write');
    return newest?.['to'] === action;
  });
}

/** From now on no probe ends for seconds: its event would take the waiting ones along. */
async function untilProbesHang(): Promise<void> {
  for (const { api } of [cluster.primary, cluster.replica]) {
    const { length } = api.requests;
    api.set({ misbehave: 'hang' });
    await until('a probe', () => api.requests.length > length);
  }
}

test('a scrape has the events that wait', async () => {
  await visit();
  expect(await lab.metric('pointsman_dials_total{member="pg-1",outcome="connected"}')).toBe(1);
});

test.each([
  ['debug', { level: 'debug' }, 'session_opened'],
  ['access', { access: 'all' }, 'access'],
] as const)('a log that shows each session (%s) has its line at once', async (_, log, event) => {
  await lab.reload(file(log));
  await visit();
  expect(lab.said(event)).toHaveLength(1);
});

test('an incident that is open at the end has the session that was served last', async () => {
  cluster.primary.api.set({ role: 'replica', hasLock: false });
  await untilWritesAre('hold');
  cluster.primary.api.set({ role: 'primary', hasLock: true });
  await untilWritesAre('open');
  await untilProbesHang();
  const client = await visit();
  client.socket.end();
  await until('the end', () => client.isClosed);
  await lab.app.stop();
  const kept = new Archive({ directory, keep: 1, maxBytes: 1_000_000, onFailing: () => {} });
  await kept.open();
  const document = await kept.get(kept.list()[0]?.id ?? '');
  expect(JSON.stringify(document?.events)).toContain('"session_opened"');
});
