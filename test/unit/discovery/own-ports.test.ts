// The database port in a seed's own report is trusted like the seed itself. The same port is trusted for the members in
// its list.
import { expect, test } from 'vitest';
import { configured, entryOf, fakeCluster, seed } from '../../support/labs/discovery.ts';
import type { FakeCluster } from '../../support/labs/discovery.ts';

const ON_5433 = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((host, n) => entryOf(`pg-${n + 1}`, host, { port: 5433 }));
const ALL_ON_5433 = ['pg-1 10.0.0.1:5433', 'pg-2 10.0.0.2:5433', 'pg-3 10.0.0.3:5433'];

async function used({ discovery }: FakeCluster): Promise<readonly string[]> {
  const { members } = await discovery.discover();
  return members.map(({ name, postgres }) => `${name} ${postgres?.host}:${postgres?.port}`);
}

test('scenario 44: a cluster on port 5433 is used by default', async () => {
  const cluster = fakeCluster({ seeds: [seed('http://10.0.0.1:8008')] });
  cluster.documents.set('10.0.0.1:8008', { members: ON_5433 });
  expect(await used(cluster)).toEqual(ALL_ON_5433);
  expect((await cluster.discovery.discover()).refused).toEqual([]);
});

test('the seed and its entry may spell the host differently', async () => {
  const cluster = fakeCluster({ seeds: [seed('http://pg1.test:8008')] });
  cluster.names.set('pg1.test', ['10.0.0.1']).set('pg1.internal.test', ['10.0.0.1']);
  const own = entryOf('pg-1', '10.0.0.1', { host: 'pg1.internal.test', port: 5433 });
  cluster.documents.set('10.0.0.1:8008', { members: [own, ON_5433[1]] });
  expect(await used(cluster)).toEqual(['pg-1 10.0.0.1:5433', 'pg-2 10.0.0.2:5433']);
});

test('a configured member counts as a seed here', async () => {
  const cluster = fakeCluster({ members: [configured('pg-1', 'http://10.0.0.1:8008')] });
  cluster.documents.set('10.0.0.1:8008', { members: ON_5433 });
  expect(await used(cluster)).toEqual(ALL_ON_5433);
});

test('seeds with one port each: the document of one names the ports of the others', async () => {
  const ports = [5432, 5433, 5434];
  const apis = [8008, 8009, 8010];
  const cluster = fakeCluster({ seeds: apis.map((api) => seed(`http://127.0.0.1:${api}`)) });
  const members = ports.map((port, n) =>
    entryOf(`pg-${n + 1}`, '127.0.0.1', { api_url: `http://127.0.0.1:${apis[n]}`, port }),
  );
  cluster.documents.set('127.0.0.1:8008', { members });
  expect(await used(cluster)).toEqual(ports.map((port, n) => `pg-${n + 1} 127.0.0.1:${port}`));
});

test('the port stays trusted while the seed is away, even if another seed replaces it', async () => {
  const cluster = fakeCluster({ seeds: [seed('http://10.0.0.1:8008')] });
  cluster.documents.set('10.0.0.1:8008', { members: ON_5433 });
  await cluster.discovery.discover();
  cluster.documents.delete('10.0.0.1:8008');
  cluster.documents.set('10.0.0.2:8008', { members: ON_5433 });
  expect(await used(cluster)).toEqual(ALL_ON_5433);
  const moved = ON_5433.map((entry) => ({ ...entry, port: 5434 }));
  cluster.documents.delete('10.0.0.2:8008');
  cluster.documents.set('10.0.0.1:8008', { members: [moved[0], ON_5433[1]] });
  const { refused } = await cluster.discovery.discover();
  expect(refused).toMatchObject([{ name: 'pg-2', reason: 'postgres_port' }]);
});
