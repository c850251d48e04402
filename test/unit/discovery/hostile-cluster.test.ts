// A hostile /cluster document (scenario 44): Pointsman contacts no refused address and reports each refusal.
import { describe, expect, test } from 'vitest';
import { entryOf, fakeCluster, seed } from '../../support/labs/discovery.ts';

const S1 = 'http://10.0.0.1:8008';
const GOOD = entryOf('good', '10.0.0.2');

async function discoverWith(...members: unknown[]) {
  const cluster = fakeCluster({ seeds: [seed(S1)] });
  cluster.documents.set('10.0.0.1:8008', { members });
  const result = await cluster.discovery.discover();
  if (result.kind !== 'found') throw new Error(result.why);
  return { cluster, result };
}

test.each([
  ['a metadata address', { api_url: 'http://169.254.169.254/latest/meta-data' }, 'metadata'],
  ['a mapped metadata address', { api_url: 'http://[::ffff:169.254.169.254]:8008/' }, 'metadata'],
  ['a metadata address in numbers', { api_url: 'http://2852039166:8008/' }, 'metadata'],
  ['link-local', { api_url: 'http://[fe80::1]:8008/' }, 'link-local'],
  ['loopback, from a private network', { api_url: 'http://127.0.0.1:8008/' }, 'cluster.allow'],
  ['an unknown public address', { api_url: 'http://203.0.113.5:8008/' }, 'cluster.allow'],
  ['the SSH port', { api_url: 'http://10.0.0.9:22/' }, 'port 22'],
  ['user information', { api_url: 'http://root:secret@10.0.0.9:8008/' }, 'user information'],
  ['another scheme', { api_url: 'gopher://10.0.0.9:8008/' }, 'scheme'],
  ['no URL', { api_url: '//10.0.0.9' }, 'no URL'],
  ['no API URL', { api_url: null }, 'no API URL'],
  ['a name that resolves to metadata', { api_url: 'http://rebound.test:8008/' }, 'metadata'],
  ['a name that does not resolve', { api_url: 'http://nowhere.test:8008/' }, 'could not be resolved'],
])('%s', async (_, fields, why) => {
  const cluster = fakeCluster({ seeds: [seed(S1)] });
  cluster.names.set('rebound.test', ['169.254.169.254']);
  cluster.documents.set('10.0.0.1:8008', { members: [entryOf('bad', '10.0.0.9', fields), GOOD] });
  const result = await cluster.discovery.discover();
  expect(result.members.map((member) => member.name)).toEqual(['good']);
  expect(result.refused).toMatchObject([{ name: 'bad', why: expect.stringContaining(why) }]);
  expect(JSON.stringify({ ...result, document: undefined })).not.toContain('secret');
  await cluster.discovery.discover({ not: 'good' });
  expect(new Set(cluster.reads.map((api) => api.address.host))).toEqual(new Set(['10.0.0.1']));
});

test.each([
  ['the SSH port', { port: 22 }, 'port 22'],
  ['a metadata address', { host: '169.254.169.254' }, 'metadata'],
  ['an unknown address', { host: '203.0.113.5' }, 'cluster.allow'],
  ['a list of hosts', { host: '10.0.0.1,169.254.169.254' }, 'not one host name'],
  ['a path', { host: '/var/run/postgresql' }, 'not one host name'],
  ['no host', { host: undefined }, 'no host and port'],
  ['no port', { port: undefined }, 'no host and port'],
])('PostgreSQL at %s: the member has no PostgreSQL address', async (_, fields, why) => {
  const { result } = await discoverWith(entryOf('half', '10.0.0.9', fields));
  expect(result.members).toMatchObject([{ name: 'half', postgres: undefined }]);
  expect(result.refused).toMatchObject([{ name: 'half', why: expect.stringContaining(why) }]);
});

test('G19: a name with several addresses is contacted at the allowed ones, and at no other', async () => {
  const cluster = fakeCluster({ seeds: [seed(S1)] });
  cluster.names.set('mixed.test', ['169.254.169.254', '203.0.113.5', '10.0.0.7', '198.51.100.4', '10.0.0.8']);
  cluster.documents.set('10.0.0.1:8008', { members: [entryOf('mixed', 'mixed.test')] });
  expect((await cluster.discovery.discover()).members[0]).toMatchObject({
    api: { url: 'http://mixed.test:8008', address: { host: '10.0.0.7', port: 8008, others: ['10.0.0.8'] } },
    postgres: { host: '10.0.0.7', others: ['10.0.0.8'] },
  });
});

test('ten thousand members: a hundred are accepted and one line reports the rest', async () => {
  const many = Array.from({ length: 10_000 }, (_, n) => entryOf(`pg-${n}`, `10.1.${n >> 8}.${n & 255}`));
  const { cluster, result } = await discoverWith(...many);
  expect(result.members).toHaveLength(100);
  expect(result.refused).toEqual([{ name: '9900 others', reason: 'too_many', why: 'more than 100 members' }]);
  expect(cluster.reads).toHaveLength(1);
});

test('a stream of new members does not grow the list beyond the limit', async () => {
  const cluster = fakeCluster({ seeds: [seed(S1)] });
  for (let round = 0; round < 5; round++) {
    const members = Array.from({ length: 90 }, (_, n) => entryOf(`pg-${round}-${n}`, `10.${round + 1}.0.${n + 1}`));
    cluster.documents.set('10.0.0.1:8008', { members });
    const result = await cluster.discovery.discover();
    expect(result.members.length).toBeLessThanOrEqual(100);
    expect(result.refused.length).toBeLessThanOrEqual(200);
  }
});

test('two members of one name, two members of one API: the first counts', async () => {
  const { result } = await discoverWith(GOOD, entryOf('good', '10.0.0.3'), entryOf('twin', '10.0.0.2'));
  expect(result.members).toMatchObject([{ name: 'good', api: { address: { host: '10.0.0.2' } } }]);
  expect(result.refused).toEqual([
    { name: 'good', reason: 'duplicate', why: 'another member has this name' },
    { name: 'twin', reason: 'duplicate', why: 'its API is also that of good' },
  ]);
});

test('a seed in a range that is never contacted is not contacted', async () => {
  const cluster = fakeCluster({ seeds: [seed('http://169.254.169.254:80')] });
  const result = await cluster.discovery.discover();
  expect(result).toMatchObject({ kind: 'failed', refused: [{ why: expect.stringContaining('metadata') }] });
  expect(cluster.reads).toEqual([]);
});

test.each([['__proto__'], ['constructor'], ['toString']])('a member called %s is a member', async (name) => {
  const { result } = await discoverWith(entryOf(name, '10.0.0.5'));
  expect(result.members.map((member) => member.name)).toEqual([name]);
});

async function refusalsOf(...members: unknown[]) {
  const { result } = await discoverWith(...members);
  return result.refused.map(({ name, reason }) => `${name} ${reason}`);
}

describe('G19: only a seed adds a port, and only for its own host', () => {
  const SEED_HOST = '10.0.0.1';
  const other = entryOf('other', '10.0.0.9', { port: 6379 });

  test.each([
    ['a port of the services that every host has', entryOf('seed', SEED_HOST, { port: 22 })],
    ['another host', entryOf('seed', SEED_HOST, { host: '10.0.0.9', port: 6379 })],
    ['a metadata address', entryOf('seed', SEED_HOST, { host: '169.254.169.254', port: 6379 })],
    ['a name that leads elsewhere', entryOf('seed', SEED_HOST, { host: 'nowhere.test', port: 6379 })],
    ['another API of that host', entryOf('seed', SEED_HOST, { api_url: 'http://10.0.0.1:8009', port: 6379 })],
    ['no API', entryOf('seed', SEED_HOST, { api_url: null, port: 6379 })],
    ['a member that is no seed', entryOf('seed', '10.0.0.2', { port: 6379 })],
  ])('%s', async (_, entry) => {
    expect(await refusalsOf(entry, other)).toContain('other postgres_port');
  });

  test('of two entries for one seed the first counts', async () => {
    const twin = entryOf('twin', SEED_HOST, { port: 6379 });
    expect(await refusalsOf(entryOf('seed', SEED_HOST, { port: 5433 }), twin, other)).toContain('other postgres_port');
  });

  test('a trusted port opens no other network', async () => {
    const stranger = entryOf('stranger', '10.0.0.3', { host: '203.0.113.5', port: 5433 });
    const metadata = entryOf('metadata', '10.0.0.4', { host: '169.254.169.254', port: 5433 });
    expect(await refusalsOf(entryOf('seed', SEED_HOST, { port: 5433 }), stranger, metadata)).toEqual([
      'stranger address',
      'metadata forbidden_address',
    ]);
  });

  test('the document of a discovered member adds nothing for a seed', async () => {
    const cluster = fakeCluster({ seeds: [seed(S1)] });
    const own = entryOf('seed', SEED_HOST);
    cluster.documents.set('10.0.0.1:8008', { members: [own, GOOD] });
    await cluster.discovery.discover();
    cluster.documents.delete('10.0.0.1:8008');
    cluster.documents.set('10.0.0.2:8008', { members: [{ ...own, port: 6379 }, GOOD, other] });
    const result = await cluster.discovery.discover();
    expect(result.refused.map(({ name, reason }) => `${name} ${reason}`)).toEqual([
      'seed postgres_port',
      'other postgres_port',
    ]);
  });
});

test('refusals cut long texts', async () => {
  const name = `pg-${'x'.repeat(250)}`;
  const { result } = await discoverWith(
    entryOf(name, '10.0.0.9', {
      api_url: `http://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.test:8008`,
      port: 1,
    }),
  );
  const [refusal] = result.refused;
  expect(refusal?.name).toMatch(/^pg-x{125}$/);
  expect(refusal?.why).toMatch(/^a{63}\.b{63}\. could not be resolved: .*; PostgreSQL port 1 is not allowed/);
});

test('a member with two refused addresses is refused with both reasons', async () => {
  const { result } = await discoverWith(entryOf('bad', '10.0.0.9', { api_url: 'http://10.0.0.9:9009', port: 6379 }));
  expect(result.refused).toEqual([
    {
      name: 'bad',
      reason: 'api_port',
      why:
        'API port 9009 is not allowed: add 9009 to cluster.allow.ports to allow it; ' +
        'PostgreSQL port 6379 is not allowed: add 6379 to cluster.allow.ports to allow it',
      remedy: { hosts: [], ports: [9009, 6379] },
    },
  ]);
});
