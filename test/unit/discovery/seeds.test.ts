// Seeds: names with several addresses, SRV records, and the answers that are refused.
import { describe, expect, test } from 'vitest';
import { addressText } from '../../../src/model/member.ts';
import { entryOf, fakeCluster, seed, srvSeed } from '../../support/labs/discovery.ts';

const DOCUMENT = {
  members: [
    entryOf('pg-1', '10.0.0.1', { role: 'leader', state: 'running' }),
    entryOf('pg-2', '10.0.0.2'),
    entryOf('pg-3', '10.0.0.3'),
  ],
  scope: 'demo',
};
const SRV = '_patroni._tcp.test';

function record(target: string, more: Partial<{ port: number; priority: number; weight: number }> = {}) {
  return { target, port: 8008, priority: 0, weight: 0, ...more };
}

function asked(cluster: ReturnType<typeof fakeCluster>): readonly string[] {
  return cluster.reads.map(({ address }) => addressText(address));
}

describe('a name with several addresses', () => {
  test('is one contact point for each address', async () => {
    const cluster = fakeCluster({ seeds: [seed('http://pg.test:8008')] });
    cluster.names.set('pg.test', ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    cluster.documents.set('10.0.0.3:8008', DOCUMENT);
    expect(await cluster.discovery.discover()).toMatchObject({ kind: 'found', by: 'pg-3' });
    expect(asked(cluster)).toEqual(['10.0.0.1:8008', '10.0.0.2:8008', '10.0.0.3:8008']);
  });

  test('reports the failed addresses with their reasons', async () => {
    const cluster = fakeCluster({ seeds: [seed('http://pg.test:8008')] });
    cluster.names.set('pg.test', ['10.0.0.1', 'fd00::2']);
    expect(await cluster.discovery.discover()).toMatchObject({
      kind: 'failed',
      why: 'http://pg.test:8008 at 10.0.0.1: connection refused; http://pg.test:8008 at fd00::2: connection refused',
    });
  });

  test('adds the members at its addresses in static discovery', async () => {
    const cluster = fakeCluster({ discovery: 'static', seeds: [seed('http://pg.test:8008')] });
    cluster.names.set('pg.test', ['10.0.0.1', '10.0.0.2']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    const { members } = await cluster.discovery.discover();
    expect(members.map(({ name }) => name)).toEqual(['pg-1', 'pg-2']);
  });

  test('leaves out addresses that are never contacted, and uses the others', async () => {
    const cluster = fakeCluster({ seeds: [seed('http://pg.test:8008')] });
    cluster.names.set('pg.test', ['169.254.169.254', '10.0.0.1']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    expect((await cluster.discovery.discover()).kind).toBe('found');
    expect(asked(cluster)).toEqual(['10.0.0.1:8008']);
  });

  test('gives proxies with the same list different first addresses', async () => {
    const cluster = fakeCluster({ seeds: [seed('http://pg.test:8008')] });
    cluster.names.set('pg.test', ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    for (const start of [0, 0.34, 0.99]) {
      cluster.random.start = start;
      await cluster.discovery.discover();
      await cluster.clock.advance(1000);
    }
    expect([0, 3, 6].map((i) => asked(cluster)[i])).toEqual(['10.0.0.1:8008', '10.0.0.2:8008', '10.0.0.3:8008']);
  });
});

describe('SRV records', () => {
  test('are used by priority, the heavier first, each at its own port', async () => {
    const cluster = fakeCluster({ seeds: [srvSeed(SRV)], limits: { attempts: 4 } });
    cluster.services.set(SRV, [
      record('d.test', { priority: 20, port: 8010 }),
      record('c.test', { priority: 10, weight: 1 }),
      record('b.test', { priority: 10, weight: 5 }),
    ]);
    for (const [i, name] of ['b', 'c', 'd'].entries()) cluster.names.set(`${name}.test.`, [`10.0.0.${i + 1}`]);
    cluster.random.start = 0;
    await cluster.discovery.discover();
    expect(asked(cluster)).toEqual(['10.0.0.1:8008', '10.0.0.2:8008', '10.0.0.3:8010']);
    expect(cluster.lookups.slice(1)).toEqual(['b.test.', 'c.test.', 'd.test.']);
  });

  test('of https keep the name of the host for its certificate', async () => {
    const cluster = fakeCluster({ seeds: [srvSeed(SRV, 'https')] });
    cluster.services.set(SRV, [record('pg-1.test')]);
    cluster.names.set('pg-1.test.', ['10.0.0.1']);
    await cluster.discovery.discover();
    expect(cluster.reads).toEqual([{ url: 'https://pg-1.test:8008', address: { host: '10.0.0.1', port: 8008 } }]);
  });

  test.each([
    ['169.254.169.254', 8008, '169.254.169.254 is a metadata address'],
    ['127.0.0.1', 8008, '127.0.0.1 is a loopback address (cluster.allow.networks)'],
    ['10.0.0.1', 22, 'api port 22 is below 1024 (cluster.allow.ports)'],
  ])('G19: to %s:%i are not followed', async (address, port, why) => {
    const cluster = fakeCluster({ seeds: [srvSeed(SRV)] });
    cluster.services.set(SRV, [record('pg-1.test', { port })]);
    cluster.names.set('pg-1.test.', [address]);
    const { refused } = await cluster.discovery.discover();
    expect(cluster.reads).toEqual([]);
    expect(refused).toEqual([
      { name: `${address}:${port}`, reason: 'contact_point', why: `${why}, named by http+srv://${SRV}` },
    ]);
  });

  test('are followed if the operator allows them', async () => {
    const allow = { networks: ['127.0.0.0/8'], hosts: [], ports: [22] };
    const cluster = fakeCluster({ seeds: [srvSeed(SRV)], allow });
    cluster.services.set(SRV, [record('pg-1.test', { port: 22 })]);
    cluster.names.set('pg-1.test.', ['127.0.0.1']);
    await cluster.discovery.discover();
    expect(asked(cluster)).toEqual(['127.0.0.1:22']);
  });

  test('G19: add addresses, no permission: a public address of another member is refused, also by name', async () => {
    const cluster = fakeCluster({ seeds: [srvSeed(SRV)] });
    cluster.services.set(SRV, [record('pg-1.test')]);
    cluster.names.set('pg-1.test.', ['203.0.113.1']).set('pg-1.test', ['198.51.100.7']);
    cluster.documents.set('203.0.113.1:8008', {
      members: [entryOf('pg-1', 'pg-1.test'), entryOf('pg-2', '198.51.100.8'), entryOf('pg-3', '203.0.113.1')],
      scope: 'demo',
    });
    const { members, refused } = await cluster.discovery.discover();
    expect(members.map(({ name }) => name)).toEqual(['pg-3']);
    expect(refused.map(({ name }) => name)).toEqual(['pg-1', 'pg-2']);
  });

  test('of another cluster are ignored', async () => {
    const cluster = fakeCluster({ scope: 'other', seeds: [srvSeed(SRV)] });
    cluster.services.set(SRV, [record('pg-1.test')]);
    cluster.names.set('pg-1.test.', ['10.0.0.1']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    expect(await cluster.discovery.discover()).toMatchObject({
      kind: 'failed',
      why: 'http://pg-1.test:8008 at 10.0.0.1: answers for scope demo and not other',
    });
  });

  test.each([
    ['none', []],
    ['the one record for no service', [record('.')]],
    ['port 0', [record('pg-1.test', { port: 0 })]],
  ])('%s: discovery fails until a record names a host', async (_, records) => {
    const cluster = fakeCluster({ seeds: [srvSeed(SRV)] });
    cluster.services.set(SRV, records);
    expect(await cluster.discovery.discover()).toMatchObject({
      kind: 'failed',
      refused: [{ why: `SRV records of ${SRV} could not be looked up: no record that names a host` }],
    });
    cluster.services.set(SRV, [record('pg-1.test')]);
    cluster.names.set('pg-1.test.', ['10.0.0.1']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    expect((await cluster.discovery.discover()).kind).toBe('found');
  });
});

describe('the result of the sources', () => {
  test('is reported on a change, with the duration and the reason of the failure', async () => {
    const cluster = fakeCluster({ seeds: [srvSeed(SRV), seed('http://10.0.0.9:8008')] });
    const [name, contactPoints] = [`http+srv://${SRV}`, [{ host: '10.0.0.1', port: 8008 }]];
    await cluster.discovery.discover();
    const nothing = {
      name,
      contactPoints: [],
      failing: { since: undefined, why: expect.stringContaining('ENOTFOUND') },
    };
    expect(cluster.sources).toEqual([nothing]);
    cluster.services.set(SRV, [record('pg-1.test')]);
    cluster.names.set('pg-1.test.', ['10.0.0.1']);
    await cluster.discovery.discover();
    await cluster.discovery.discover();
    expect(cluster.sources.slice(1)).toEqual([{ name, contactPoints, failing: undefined }]);
    cluster.services.clear();
    await cluster.clock.advance(3000);
    await cluster.discovery.discover();
    await cluster.clock.advance(3000);
    await cluster.discovery.discover();
    const failing = { since: 4000, why: 'ENOTFOUND' };
    expect(cluster.sources.slice(2)).toEqual([{ name, contactPoints, failing }]);
    expect(cluster.discovery.sources()).toEqual([{ name, contactPoints, failing }]);
  });
});
