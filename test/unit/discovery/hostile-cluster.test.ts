// A /cluster document written by an enemy (scenario 44): nobody it names is contacted, and each refusal is told.
import { expect, test } from 'vitest';
import { entryOf, fakeCluster, seed } from '../../support/discovery.ts';

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
  ['a stranger in public', { api_url: 'http://203.0.113.5:8008/' }, 'cluster.allow'],
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
  expect(result.refused).toEqual([{ name: 'bad', why: expect.stringContaining(why) }]);
  expect(JSON.stringify(result)).not.toContain('secret');
  await cluster.discovery.discover({ not: 'good' });
  expect(new Set(cluster.reads.map((api) => api.address.host))).toEqual(new Set(['10.0.0.1']));
});

test.each([
  ['the SSH port', { port: 22 }, 'port 22'],
  ['a metadata address', { host: '169.254.169.254' }, 'metadata'],
  ['a stranger', { host: '203.0.113.5' }, 'cluster.allow'],
  ['a list of hosts', { host: '10.0.0.1,169.254.169.254' }, 'not one host name'],
  ['a path', { host: '/var/run/postgresql' }, 'not one host name'],
  ['no host', { host: undefined }, 'no host and port'],
  ['no port', { port: undefined }, 'no host and port'],
])('PostgreSQL at %s: the member has no PostgreSQL address', async (_, fields, why) => {
  const { result } = await discoverWith(entryOf('half', '10.0.0.9', fields));
  expect(result.members).toMatchObject([{ name: 'half', postgres: undefined }]);
  expect(result.refused).toEqual([{ name: 'half', why: expect.stringContaining(why) }]);
});

test('a name with several addresses is contacted at an allowed one', async () => {
  const cluster = fakeCluster({ seeds: [seed(S1)] });
  cluster.names.set('mixed.test', ['169.254.169.254', '203.0.113.5', '10.0.0.7']);
  cluster.documents.set('10.0.0.1:8008', { members: [entryOf('mixed', 'mixed.test')] });
  expect((await cluster.discovery.discover()).members[0]).toMatchObject({
    api: { url: 'http://mixed.test:8008', address: { host: '10.0.0.7' } },
    postgres: { host: '10.0.0.7' },
  });
});

test('ten thousand members: a hundred are taken and the rest is told in one line', async () => {
  const many = Array.from({ length: 10_000 }, (_, n) => entryOf(`pg-${n}`, `10.1.${n >> 8}.${n & 255}`));
  const { cluster, result } = await discoverWith(...many);
  expect(result.members).toHaveLength(100);
  expect(result.refused).toEqual([{ name: '9900 others', why: 'more than 100 members' }]);
  expect(cluster.reads).toHaveLength(1);
});

test('ever new members do not grow the list beyond the bound', async () => {
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
    { name: 'good', why: 'another member has this name' },
    { name: 'twin', why: 'its API is also that of good' },
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
