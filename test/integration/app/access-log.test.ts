// The access log: one line for each client connection, whatever the level of the log, and none while it is off.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const CLOSED = 'pointsman_sessions_closed_total{pool="write",reason="client_closed"}';

let cluster: FakeCluster;
let lab: AppLab;

beforeEach(async () => {
  cluster = await FakeCluster.start();
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
});

function file(log: ConfigFile): ConfigFile {
  return fileFor([cluster.primary, cluster.replica], { log });
}

/** A client that connects, sends its startup packet, and leaves. */
async function visit(): Promise<void> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup({ user: 'app', database: 'shop', application_name: 'billing' }));
  await until('the echo', () => client.received().length > 0);
  client.socket.end();
  await once(client.socket, 'close');
}

test('closed: one line at the end, with client, names, member, pool, duration, bytes and reason', async () => {
  lab = await AppLab.start(file({ access: 'closed' }));
  await visit();
  await until('the line', () => lab.said('access').length > 0);
  const [line, ...others] = lab.said('access');
  expect(others).toEqual([]);
  expect(line).toMatchObject({
    level: 'info',
    action: 'closed',
    pool: 'write',
    member: 'pg-1',
    user: 'app',
    database: 'shop',
    application: 'billing',
    tls: 'none',
    client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    duration_ms: expect.any(Number),
    to_backend_bytes: expect.any(Number),
    to_client_bytes: expect.any(Number),
    reason: 'client_closed',
  });
  expect(line?.['msg']).toMatch(/^session \d+: app@shop from 127\.0\.0\.1:\d+, pool write, pg-1: closed after /);
});

test('a reload turns it on and off; all: two lines; at no time are they events', async () => {
  lab = await AppLab.start(file({}));
  await visit();
  await until('the end', async () => (await lab.metric(CLOSED)) === 1);
  expect(lab.said('access')).toEqual([]);
  // Less than warnings: the access log does not depend on it.
  await lab.reload(file({ access: 'all', level: 'error' }));
  await visit();
  await until('both lines', () => lab.said('access').length === 2);
  expect(lab.said('access').map(({ action }) => action)).toEqual(['opened', 'closed']);
  expect(await lab.ask('/events?format=json')).not.toContain('"access"');
  await lab.reload(file({ access: 'off' }));
  await visit();
  await until('the end', async () => (await lab.metric(CLOSED)) === 3);
  expect(lab.said('access')).toHaveLength(2);
});
