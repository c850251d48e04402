// The usual events of sessions may wait for each other, and no reader notices.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  lab = await AppLab.start(file({}));
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
});

function file(log: ConfigFile): ConfigFile {
  return fileFor([cluster.primary, cluster.replica], { log });
}

/** A client that has the first bytes of its server. */
async function visit(): Promise<void> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup({ user: 'app', database: 'shop' }));
  await until('the echo', () => client.received().length > 0);
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
