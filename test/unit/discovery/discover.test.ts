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
  test('every member of the document, at the addresses that were checked', async () => {
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
      leader: { name: 'pg-1', state: 'running', timeline: 3 },
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

describe('whom it asks', () => {
  test('the next one when one fails, then the one that answered first', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1), seed(S2)] });
    cluster.documents.set('10.0.0.2:8008', DOCUMENT);
    expect(found(await cluster.discovery.discover()).by).toBe('pg-2');
    await cluster.discovery.discover();
    expect(cluster.reads.map(({ url }) => url)).toEqual([S1, S2, S2]);
  });

  test('one that failed and then answered before one that was never asked', async () => {
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

  test('at most three a call, and the next call goes on with the others', async () => {
    const seeds = [1, 2, 3, 4, 5].map((n) => seed(`http://10.0.0.${n}:8008`));
    const cluster = fakeCluster({ seeds });
    cluster.documents.set('10.0.0.5:8008', DOCUMENT);
    expect((await cluster.discovery.discover()).kind).toBe('failed');
    expect(cluster.reads).toHaveLength(3);
    await cluster.clock.advance(1000);
    expect((await cluster.discovery.discover()).kind).toBe('found');
    expect(cluster.reads).toHaveLength(5);
  });

  test('members that were found, when the seeds are gone', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.clear();
    cluster.documents.set('10.0.0.3:8008', DOCUMENT);
    expect(found(await cluster.discovery.discover()).by).toBe('pg-3');
  });

  test('not the one whose word is not wanted, under any name', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT).set('10.0.0.2:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.reads.length = 0;
    expect(found(await cluster.discovery.discover({ not: 'pg-1' })).by).toBe('pg-2');
    expect(cluster.reads.map(({ url }) => url)).toEqual([S2]);
  });

  test('no longer than the total', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1), seed(S2)], limits: { totalMs: 0 } });
    expect(await cluster.discovery.discover()).toMatchObject({
      kind: 'failed',
      why: 'there is no contact point',
    });
    expect(cluster.reads).toEqual([]);
  });
});

describe('scope', () => {
  test('another cluster’s document is ignored and said so', async () => {
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

  test('the first document’s scope counts when none is configured', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.set('10.0.0.1:8008', { members: [], scope: 'other' });
    expect((await cluster.discovery.discover()).kind).toBe('failed');
  });

  test('a document without a scope (before 3.2.0) is taken', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)], scope: 'demo' });
    cluster.documents.set('10.0.0.1:8008', { members: THREE });
    expect(names(await cluster.discovery.discover())).toHaveLength(3);
  });
});

describe('a configured member', () => {
  test('is there while no document can be had, with what the configuration says', async () => {
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

  test('is never dropped, comes first, and its addresses win over the document', async () => {
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

  test('learns its PostgreSQL address by name, and keeps it', async () => {
    const cluster = fakeCluster({ members: [configured('pg-1', S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.clear();
    const result = await cluster.discovery.discover();
    expect(result.kind).toBe('failed');
    expect(result.members[0]).toMatchObject({ name: 'pg-1', postgres: { host: '10.0.0.1', port: 5432 } });
  });

  test('is found by its API when the cluster has another name for it', async () => {
    const cluster = fakeCluster({ members: [configured('one', 'http://pg1.test:8008')] });
    cluster.names.set('pg1.test', ['10.0.0.1']);
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    const result = found(await cluster.discovery.discover());
    expect(names(result)).toEqual(['one', 'pg-2', 'pg-3']);
    expect(result.members[0]?.postgres).toEqual({ host: '10.0.0.1', port: 5432 });
    expect(result.leader?.name).toBe('one');
    expect(result.refused).toEqual([{ name: 'pg-1', reason: 'duplicate', why: 'its API is configured as one' }]);
  });

  test('whose name cannot be resolved is shown, asked by nobody, and comes back by itself', async () => {
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

describe('members that go', () => {
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

  test('a failed read drops nobody, however long', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    cluster.documents.set('10.0.0.1:8008', DOCUMENT);
    await cluster.discovery.discover();
    cluster.documents.set('10.0.0.1:8008', 'hang');
    await cluster.clock.advance(1_000_000);
    const result = await cluster.discovery.discover();
    expect(result.kind).toBe('failed');
    expect(names(result)).toEqual(['pg-1', 'pg-2', 'pg-3']);
  });

  test('scenario 28: one that moved has its new address; one that was renamed is one member', async () => {
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

  test('a PostgreSQL address that the document leaves out for a while is kept', async () => {
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
