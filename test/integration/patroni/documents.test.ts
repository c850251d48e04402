// The readers and discovery against real sockets.
import { afterEach, describe, expect, test } from 'vitest';
import { createDiscovery } from '../../../src/discovery/discover.ts';
import { createReader } from '../../../src/patroni/read-documents.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { readCapture } from '../../support/values/captures.ts';
import { seed } from '../../support/labs/discovery.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import type { FakeMemberKnobs } from '../../support/fakes/fake-member.ts';
import { until } from '../../support/waiting/until.ts';

const members: FakeMember[] = [];

afterEach(async () => {
  await Promise.all(members.splice(0).map((member) => member.stop()));
});

async function start(name: string, knobs: Partial<FakeMemberKnobs> = {}): Promise<FakeMember> {
  const member = await FakeMember.start(name, knobs);
  members.push(member);
  return member;
}

describe('reading documents', () => {
  const reader = createReader();

  test('cluster, history, configuration', async () => {
    const { answers } = readCapture('4.1.4', 'normal');
    const document = answers.find((answer) => answer.path === '/cluster')?.body;
    const member = await start('n1', { cluster: document, history: [[1, 2, 'x']] });
    const { api } = member.member();
    const askedAt = Date.now();
    const read = await reader.readCluster(api, 1000);
    expect(read).toMatchObject({ kind: 'cluster', cluster: { scope: 'lab' } });
    // Whole seconds, from the clock of the member: this machine's.
    const date = read.kind === 'cluster' ? (read.date ?? 0) : 0;
    expect(date % 1000).toBe(0);
    expect(Math.abs(date - askedAt)).toBeLessThan(5_000);
    expect(await reader.readHistory(api, 1000)).toMatchObject({ kind: 'history', entries: [{ timeline: 1 }] });
    expect(await reader.readConfig(api, 1000)).toMatchObject({ kind: 'config', config: { ttl: 30 } });
  });

  test('a 503 with a status document is not a cluster document', async () => {
    const { api } = (await start('n1')).member();
    expect(await reader.readCluster(api, 1000)).toMatchObject({ kind: 'failed', cause: 'unexpected_status' });
  });

  test('scenario 12: a store that hangs, or ends without an answer', async () => {
    const member = await start('n1', { cluster: {}, misbehave: 'hang' });
    const { api } = member.member();
    expect(await reader.readCluster(api, 1000)).toMatchObject({ kind: 'failed', cause: 'timeout' });
    member.set({ misbehave: 'close' });
    expect(await reader.readCluster(api, 1000)).toMatchObject({ kind: 'failed', cause: 'reset' });
    await member.stop();
    expect(await reader.readCluster(api, 1000)).toEqual({ kind: 'refused' });
  });
});

describe('the dialect', () => {
  test('scenario 17: selects the path of the node status', async () => {
    const member = await start('n1', { dialect: 'manager' });
    const { api } = member.member();
    const read = await createReader({ dialect: 'manager' }).readNodeStatus(api, 1000);
    expect(read).toMatchObject({ kind: 'status', status: { dialect: 'manager' } });
    await createReader().readNodeStatus(api, 1000);
    expect(member.requests).toEqual(['GET /manager', 'GET /patroni']);
  });

  test('a body without the key of either dialect is malformed', async () => {
    const reader = createReader({ dialect: 'manager' });
    const member = await start('n1', { raw: 'HTTP/1.0 200 OK\r\n\r\n{"error":"no"}' });
    expect(await reader.readNodeStatus(member.member().api, 1000)).toMatchObject({
      kind: 'failed',
      cause: 'malformed',
    });
    expect(member.requests).toEqual(['GET /manager']);
  });
});

test('a configuration that is no object is malformed', async () => {
  const member = await start('n1', { raw: 'HTTP/1.0 200 OK\r\n\r\n[]' });
  const detail = '/config: not a JSON object';
  expect(await createReader().readConfig(member.member().api, 1000)).toMatchObject({ cause: 'malformed', detail });
});

test('discovery walks from a dead seed to a live one and finds the members, names resolved by the system', async () => {
  const [dead, one, two] = [await start('dead'), await start('n1', { role: 'primary' }), await start('n2')];
  await dead.stop();
  one.set({ cluster: { members: [one.entry(), two.entry()], scope: 'demo' } });
  const byName = `http://localhost:${one.address.port}`;
  const discovery = createDiscovery({
    cluster: {
      discovery: 'dynamic',
      seeds: [dead.url, byName, two.url].map((url) => seed(url)),
      members: [],
      allow: { networks: [], hosts: [], ports: [] },
    },
    readCluster: createReader().readCluster,
    clock: systemClock,
  });
  const result = await discovery.discover();
  expect(result).toMatchObject({
    kind: 'found',
    by: 'n1',
    leader: { name: 'n1', state: 'running' },
    scope: 'demo',
    refused: [],
  });
  expect(result.members).toMatchObject([
    { name: 'n1', api: { url: one.url, address: one.address }, postgres: { host: '127.0.0.1', port: 5432 } },
    { name: 'n2', api: { url: two.url, address: two.address } },
  ]);
  expect(two.connections).toBe(0);
  await until('the end of the connection', () => one.open === 0);
});
