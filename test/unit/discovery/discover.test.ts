import { describe, expect, test } from 'vitest';
import type { DiscoveryResult } from '../../../src/discovery/discover.ts';
import { configured, entryOf, fakeCluster, seed } from '../../support/labs/discovery.ts';

const S1 = 'http://10.0.0.1:8008';
const S2 = 'http://10.0.0.2:8008';
const THREE = [
  entryOf('pg-1', '10.0.0.1', { role: 'leader', state: 'running', timeline: 3 }),
  entryOf('pg-2', '10.0.0.2'),
  entryOf('pg-3', '10.0.0.3'),
];
const DOCUMENT = { members: THREE, scope: 'demo' };

function found(result: DiscoveryResult) {
  if (result.kind !== 'found') throw new Error(result.why);
  return result;
}

function names(result: DiscoveryResult) {
  return result.members.map((member) => member.name);
}

describe('a cluster found from one seed', () => {
  test('every member of the document, at the checked addresses', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', {
      ...DOCUMENT,
      pause: true,
      scheduled_switchover: { at: '2026-11-21T05:05:10+00:00' },
    });
    const result = found(await cluster.discovery.discover());
    expect(result.members[0]).toEqual({
      name: 'pg-1',
      api: { url: S1, address: { host: '10.0.0.1', port: 8008 } },
      postgres: { host: '10.0.0.1', port: 5432 },
      origin: 'discovered',
    });
    expect(names(result)).toEqual(['pg-1', 'pg-2', 'pg-3']);
    expect(result).toMatchObject({
      scope: 'demo',
      leader: { name: 'pg-1', state: 'running' },
      by: 'pg-1',
      scheduledSwitchoverAt: Date.parse('2026-11-21T05:05:10+00:00'),
      refused: [],
      startedAt: 1000,
    });
  });

  test('a name is resolved, and stays the name of the API', async () => {
    const cluster = fakeCluster({ seeds: [seed('http://pg1.test:8008')] });
    cluster.names.set('pg1.test', ['10.0.0.1']).set('pg2.test', ['10.0.0.2']);
    cluster.documents.set('10.0.0.1:8008', { members: [entryOf('pg-2', 'pg2.test')] });
    expect(found(await cluster.discovery.discover()).members).toEqual([
      {
        name: 'pg-2',
        api: { url: 'http://pg2.test:8008', address: { host: '10.0.0.2', port: 8008 } },
        postgres: { host: '10.0.0.2', port: 5432 },
        origin: 'discovered',
      },
    ]);
    expect(cluster.reads).toEqual([{ url: 'http://pg1.test:8008', address: { host: '10.0.0.1', port: 8008 } }]);
  });

  test('a standby leader is not named as the leader', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', { members: [entryOf('pg-1', '10.0.0.1', { role: 'standby_leader' })] });
    expect(found(await cluster.discovery.discover()).leader).toBeUndefined();
  });
});

describe('the order of the contact points', () => {
  test('the next one after a failure, then the one that answered first', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1), seed(S2)] });
    cluster.documents.set('10.0.0.2:8008', DOCUMENT);
    expect(found(await cluster.discovery.discover()).by).toBe('pg-2');
    await cluster.discovery.discover();
    expect(cluster.reads.map(({ url }) => url)).toEqual([S1, S2, S2]);
  });

  test('one that failed and then answered has precedence over one without a try', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1), seed(S2)] });
    cluster.documents.set('10.0.0.2:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.clear();
    cluster.documents.set('10.0.0.1:8008', { members: [...THREE, entryOf('pg-4', '10.0.0.4')] });
    expect(found(await cluster.discovery.discover()).by).toBe('pg-1');
    cluster.reads.length = 0;
    await cluster.discovery.discover();
    expect(cluster.reads.map(({ url }) => url)).toEqual([S1]);
  });

  test('at most three in a call, and the next call goes on with the others', async () => {
    const seeds = [1, 2, 3, 4, 5].map((n) => seed(`http://10.0.0.${n}:8008`));
    const cluster = fakeCluster({ seeds });
    cluster.documents.set('10.0.0.5:8008', DOCUMENT);
    expect((await cluster.discovery.discover()).kind).toBe('failed');
    expect(cluster.reads).toHaveLength(3);
    await cluster.clock.advance(1000);
    expect((await cluster.discovery.discover()).kind).toBe('found');
    expect(cluster.reads).toHaveLength(5);
  });

  test('discovered members, if the seeds are gone', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.clear();
    cluster.documents.set('10.0.0.3:8008', DOCUMENT);
    expect(found(await cluster.discovery.discover()).by).toBe('pg-3');
  });

  test('not the excluded contact point, under any name', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT).set('10.0.0.2:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.reads.length = 0;
    expect(found(await cluster.discovery.discover({ not: 'pg-1' })).by).toBe('pg-2');
    expect(cluster.reads.map(({ url }) => url)).toEqual([S2]);
  });

  test('no longer than the total time-out', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1), seed(S2)], limits: { totalMs: 0 } });
    expect(await cluster.discovery.discover()).toMatchObject({
      kind: 'failed',
      why: 'there is no contact point',
    });
    expect(cluster.reads).toEqual([]);
  });
});

describe('scope', () => {
  test('another cluster’s document is ignored and reported', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1), seed(S2)], scope: 'demo' });
    cluster.documents.set('10.0.0.1:8008', { members: [], scope: 'other' }).set('10.0.0.2:8008', DOCUMENT);
    expect(found(await cluster.discovery.discover()).by).toBe('pg-2');
    cluster.documents.delete('10.0.0.2:8008');
    const result = await cluster.discovery.discover();
    expect(result).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('answers for scope other and not demo'),
    });
    expect(names(result)).toEqual(['pg-1', 'pg-2', 'pg-3']);
  });

  test('the first document’s scope counts if none is configured', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.set('10.0.0.1:8008', { members: [], scope: 'other' });
    expect((await cluster.discovery.discover()).kind).toBe('failed');
  });

  test('a document without a scope (before 3.2.0) is accepted', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)], scope: 'demo' });
    cluster.documents.set('10.0.0.1:8008', { members: THREE });
    expect(names(await cluster.discovery.discover())).toHaveLength(3);
  });
});

describe('a configured member', () => {
  test('exists with its configured values while no document can be read', async () => {
    const cluster = fakeCluster({ members: [configured('pg-1', S1, { host: '10.0.0.1', port: 6000 })] });
    expect(await cluster.discovery.discover()).toMatchObject({
      kind: 'failed',
      why: 'pg-1: connection refused',
      members: [
        {
          name: 'pg-1',
          api: { url: S1, address: { host: '10.0.0.1', port: 8008 } },
          postgres: { host: '10.0.0.1', port: 6000 },
          origin: 'configured',
        },
      ],
    });
  });

  test('is never dropped, comes first, and its addresses override the document', async () => {
    const cluster = fakeCluster({
      seeds: [seed(S2)],
      members: [
        configured('pg-9', 'http://10.0.0.9:8008'),
        configured('pg-3', 'http://10.0.0.33:8008', { host: '10.0.0.34', port: 7000 }),
      ],
    });
    cluster.documents.set('10.0.0.2:8008', DOCUMENT);
    await cluster.clock.advance(100_000);
    const result = await cluster.discovery.discover();
    expect(names(result)).toEqual(['pg-9', 'pg-3', 'pg-1', 'pg-2']);
    expect(result.members[0]).toMatchObject({ postgres: undefined, origin: 'configured' });
    expect(result.members[1]).toMatchObject({
      api: { address: { host: '10.0.0.33' } },
      postgres: { host: '10.0.0.34', port: 7000 },
    });
  });

  test('gets its PostgreSQL address by name, and keeps it', async () => {
    const cluster = fakeCluster({ members: [configured('pg-1', S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.clear();
    const result = await cluster.discovery.discover();
    expect(result.kind).toBe('failed');
    expect(result.members[0]).toMatchObject({ name: 'pg-1', postgres: { host: '10.0.0.1', port: 5432 } });
  });

  test('is found by its API if the cluster has another name for it', async () => {
    const cluster = fakeCluster({ members: [configured('one', 'http://pg1.test:8008')] });
    cluster.names.set('pg1.test', ['10.0.0.1']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    const result = found(await cluster.discovery.discover());
    expect(names(result)).toEqual(['one', 'pg-2', 'pg-3']);
    expect(result.members[0]?.postgres).toEqual({ host: '10.0.0.1', port: 5432 });
    expect(result.leader?.name).toBe('one');
    expect(result.refused).toEqual([{ name: 'pg-1', reason: 'duplicate', why: 'its API is configured as one' }]);
  });

  test('with an unresolvable name is shown, gets no probes, and comes back by itself', async () => {
    const cluster = fakeCluster({
      members: [configured('pg-1', 'http://pg1.test:8008', { host: 'pg1.test', port: 5432 })],
    });
    const before = await cluster.discovery.discover();
    expect(before.members).toMatchObject([
      { name: 'pg-1', api: { address: { host: 'pg1.test' } }, postgres: undefined },
    ]);
    expect(before.refused[0]).toEqual({
      name: 'pg-1',
      reason: 'unresolved',
      why: 'pg1.test could not be resolved: ENOTFOUND',
    });
    expect(cluster.reads).toEqual([]);
    cluster.names.set('pg1.test', ['10.0.0.1']);
    expect((await cluster.discovery.discover()).members).toMatchObject([
      { postgres: { host: '10.0.0.1', port: 5432 } },
    ]);
  });
});

describe('static', () => {
  test('only members whose API is a seed, or whose name is configured', async () => {
    const cluster = fakeCluster({
      discovery: 'static',
      seeds: [seed('http://pg2.test:8008')],
      members: [configured('pg-1', S1)],
    });
    cluster.names.set('pg2.test', ['10.0.0.2']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    const result = await cluster.discovery.discover();
    expect(names(result)).toEqual(['pg-1', 'pg-2']);
    expect(result.refused).toEqual([
      { name: 'pg-3', reason: 'not_configured', why: 'neither a seed nor configured, and discovery is static' },
    ]);
  });
});

describe('members that leave', () => {
  test('scenario 27: stay for the grace', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.set('10.0.0.1:8008', { members: THREE.slice(0, 2) });
    await cluster.clock.advance(30_000);
    const within = found(await cluster.discovery.discover());
    expect(names(within)).toEqual(['pg-1', 'pg-2', 'pg-3']);
    await cluster.clock.advance(1);
    expect(names(await cluster.discovery.discover())).toEqual(['pg-1', 'pg-2']);
  });

  test('stay during failed reads, however long they last', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.set('10.0.0.1:8008', 'hang');
    await cluster.clock.advance(1_000_000);
    const result = await cluster.discovery.discover();
    expect(result.kind).toBe('failed');
    expect(names(result)).toEqual(['pg-1', 'pg-2', 'pg-3']);
  });

  test('scenario 28: a moved member has its new address; a renamed one is one member', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    await cluster.clock.advance(10_000);
    cluster.documents.set('10.0.0.1:8008', {
      members: [THREE[0], entryOf('pg-2', '10.0.0.22'), entryOf('pg-33', '10.0.0.3')],
    });
    const result = await cluster.discovery.discover();
    expect(names(result)).toEqual(['pg-1', 'pg-2', 'pg-33']);
    expect(result.members[1]).toMatchObject({
      api: { address: { host: '10.0.0.22' } },
      postgres: { host: '10.0.0.22' },
    });
  });

  test('keep a PostgreSQL address that the document omits for a while', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.set('10.0.0.1:8008', {
      members: [entryOf('pg-2', '10.0.0.2', { host: undefined, port: undefined })],
    });
    const result = await cluster.discovery.discover();
    expect(result.members[1]).toMatchObject({ name: 'pg-2', postgres: { host: '10.0.0.2', port: 5432 } });
  });
});
