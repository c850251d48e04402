// Names resolved by a real name server, and a cluster found by them.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDiscovery } from '../../../src/discovery/discover.ts';
import type { Discovery } from '../../../src/discovery/discover.ts';
import { createNameServer } from '../../../src/discovery/name-server.ts';
import { createReader } from '../../../src/patroni/read-documents.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { seed, srvSeed } from '../../support/labs/discovery.ts';
import { FakeDns } from '../../support/fakes/fake-dns.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';

let dns: FakeDns;

beforeEach(async () => {
  dns = await FakeDns.start();
});

afterEach(() => dns.stop());

function server() {
  return createNameServer({ servers: [dns.address], timeoutMs: 200 });
}

function discoveryFrom(...seeds: Parameters<typeof createDiscovery>[0]['cluster']['seeds']): Discovery {
  return createDiscovery({
    cluster: {
      discovery: 'dynamic',
      seeds,
      members: [],
      allow: { networks: ['127.0.0.0/8'], hosts: [], ports: [] },
    },
    readCluster: createReader().readCluster,
    clock: systemClock,
    names: server(),
  });
}

describe('a complete name', () => {
  test('has the addresses of both families, and the shortest TTL', async () => {
    dns.names.set('pg.test', ['10.0.0.1', '10.0.0.2', 'fd00::1']);
    const { addresses, ttlMs } = await server().lookup('pg.test.');
    expect(addresses.toSorted()).toEqual(['10.0.0.1', '10.0.0.2', 'fd00::1']);
    expect(ttlMs).toBe(30_000);
    expect(dns.questions.toSorted()).toEqual(['A pg.test', 'AAAA pg.test']);
  });

  test('of one family has the addresses of that family', async () => {
    dns.names.set('v6.test', ['fd00::2']);
    expect(await server().lookup('v6.test.')).toMatchObject({ addresses: ['fd00::2'] });
  });

  test('is found where IPv6 queries fail', async () => {
    dns.names.set('pg.test', ['10.0.0.1']);
    dns.isBadAtIpv6 = true;
    expect(await server().lookup('pg.test.')).toMatchObject({ addresses: ['10.0.0.1'] });
  });

  test.each([
    ['well', 'ENOTFOUND'],
    ['servfail', 'ESERVFAIL'],
    ['silent', 'ETIMEOUT'],
    ['garbage', 'EBADRESP'],
  ] as const)('that is unknown: %s is %s', async (mood, code) => {
    dns.mood = mood;
    await expect(server().lookup('pg.test.')).rejects.toMatchObject({ code });
  });
});

test('a name in the hosts file needs no name server', async () => {
  dns.mood = 'silent';
  expect((await server().lookup('localhost')).addresses).toContain('127.0.0.1');
  expect(dns.questions).toEqual([]);
});

test('SRV records give hosts and ports', async () => {
  dns.services.set('_patroni._tcp.test', [{ priority: 1, weight: 2, port: 8009, target: 'pg-1.test' }]);
  expect(await server().lookupSrv('_patroni._tcp.test')).toEqual([
    { priority: 1, weight: 2, port: 8009, target: 'pg-1.test' },
  ]);
});

describe('a cluster', () => {
  let members: readonly FakeMember[] = [];

  beforeEach(async () => {
    const first = await FakeMember.start('pg-1', { role: 'primary' });
    const { port } = first.address;
    members = [first, await FakeMember.start('pg-2', {}, { host: '127.0.0.2', port })];
    const cluster = { members: members.map((member) => member.entry()), scope: 'demo' };
    for (const member of members) member.set({ cluster });
  });

  afterEach(() => Promise.all(members.map((member) => member.stop())));

  test('is found through the only address of a headless service that answers', async () => {
    const port = members[0]?.address.port;
    dns.names.set('pg.test', ['127.0.0.9', '127.0.0.2']);
    const discovery = discoveryFrom(seed(`http://pg.test.:${port}`));
    expect(await discovery.discover()).toMatchObject({
      kind: 'found',
      by: 'pg-2',
      members: [{ name: 'pg-1' }, { name: 'pg-2' }],
    });
  });

  test('is found by SRV records, in the order of their priorities, and stays known while DNS is silent', async () => {
    const port = members[0]?.address.port ?? 0;
    dns.names.set('pg-1.test', ['127.0.0.1']).set('pg-2.test', ['127.0.0.2']);
    dns.services.set('_patroni._tcp.test', [
      { priority: 20, weight: 0, port, target: 'pg-1.test' },
      { priority: 10, weight: 0, port, target: 'pg-2.test' },
    ]);
    const discovery = discoveryFrom(srvSeed('_patroni._tcp.test'));
    expect(await discovery.discover()).toMatchObject({ kind: 'found', by: 'pg-2' });
    dns.mood = 'silent';
    expect(await discovery.discover()).toMatchObject({ kind: 'found', by: 'pg-2', refused: [] });
    expect(discovery.sources()).toMatchObject([
      { contactPoints: [{ host: '127.0.0.2' }, { host: '127.0.0.1' }], failing: { why: 'ETIMEOUT' } },
    ]);
  });
});
