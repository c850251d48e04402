// Operations while some APIs cannot be reached: another one is asked only while none can have the request.
import { afterEach, expect, test } from 'vitest';
import type { ClusterOperation } from '../../../src/cluster/control.ts';
import { DirectControl } from '../../../src/cluster/direct-control.ts';
import type { ApiEndpoint, Member } from '../../../src/model/member.ts';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import { createReader } from '../../../src/patroni/read-documents.ts';
import { createWrite } from '../../../src/patroni/write.ts';
import { startGuardedApi } from '../../support/fakes/guarded-api.ts';
import type { GuardedApi } from '../../support/fakes/guarded-api.ts';

const PATCH: ClusterOperation = { kind: 'patch_config', changes: { ttl: 40 } };

const apis: GuardedApi[] = [];

afterEach(async () => {
  await Promise.all(apis.splice(0).map((api) => api.stop()));
});

async function start(): Promise<GuardedApi> {
  const api = await startGuardedApi();
  apis.push(api);
  return api;
}

/** Refuses connections. */
async function dead(): Promise<ApiEndpoint> {
  const fake = await startGuardedApi();
  await fake.stop();
  return fake.api;
}

/** pg-1 leads, pg-2 gave the document. */
function controlOf(leader: ApiEndpoint, other: ApiEndpoint): DirectControl {
  const names = ['pg-1', 'pg-2'];
  const members = [leader, other].map((api, i): Member => {
    return { name: names[i] ?? '', api, postgres: undefined, origin: 'discovered' };
  });
  const read = readClusterDocument({
    members: names.map((name, i) => ({ name, role: i === 0 ? 'leader' : 'replica' })),
  });
  if (read.kind === 'invalid') throw new Error(read.why);
  const write = createWrite({});
  return new DirectControl({
    seeds: 'http://seed:8008',
    find: () => Promise.resolve({ kind: 'found', members, refused: [], document: read.cluster, from: other }),
    reader: createReader(),
    write: (api, request) => write(api, { ...request, deadlineMs: 300 }),
    hasCredentials: false,
    wallClock: () => 0,
  });
}

test('the leader refuses the connection: the next API gets the request, once', async () => {
  const other = await start();
  const result = await controlOf(await dead(), other.api).perform(PATCH);
  expect(result).toMatchObject({ kind: 'done' });
  expect(other.requests.map(({ request }) => request)).toEqual(['PATCH /config']);
});

test.each<[string, number | undefined, object]>([
  ['does not answer', undefined, { kind: 'no_answer', may_have_happened: true }],
  ['answers 401', 401, { kind: 'unauthorized' }],
  ['answers 503', 503, { kind: 'failed' }],
  ['answers 302', 302, { kind: 'unexpected' }],
])('the leader %s: no other API gets the request', async (_, status, wanted) => {
  const [leader, other] = [await start(), await start()];
  leader.answer = () => (status === undefined ? undefined : { status });
  expect(await controlOf(leader.api, other.api).perform(PATCH)).toMatchObject(wanted);
  expect([leader.requests.length, other.requests.length]).toEqual([1, 0]);
});

test('no API can be reached: the sentence names each with its reason', async () => {
  const result = await controlOf(await dead(), await dead()).perform(PATCH);
  expect(result).toMatchObject({ kind: 'no_answer', may_have_happened: false });
  expect(result.text).toContain('no connection to pg-1 (connection refused), pg-2 (connection refused)');
});

test('the operation of a member goes to no other member', async () => {
  const other = await start();
  const result = await controlOf(await dead(), other.api).perform({ kind: 'reload', member: 'pg-1' });
  expect(result).toMatchObject({ kind: 'no_answer', may_have_happened: false });
  expect(other.requests).toEqual([]);
});

test('reading goes on to the next API, and the source names it', async () => {
  const other = await start();
  other.answer = () => ({ status: 200, text: '{"ttl": 30}' });
  const control = controlOf(await dead(), other.api);
  expect(control.source()).toBe('http://seed:8008');
  expect(await control.config()).toEqual({ kind: 'read', value: { ttl: 30 } });
  expect(control.source()).toBe(other.api.url);
});

test('an answer that is long, hostile or HTML stays one printable line', async () => {
  const leader = await start();
  const control = controlOf(leader.api, leader.api);
  const reasonFor = async (text: string): Promise<string> => {
    leader.answer = () => ({ status: 412, text });
    const result = await control.perform(PATCH);
    return 'reason' in result ? result.reason : '';
  };
  expect(await reasonFor('no\r\n\u001B[31mred\u202E ')).toBe('no [31mred');
  const page = '<html><head><title>Error</title><style>p {}</style></head><body><p>no &lt;quorum&gt;</p></body></html>';
  expect(await reasonFor(page)).toBe('no <quorum>');
  expect(await reasonFor(`<${'<a '.repeat(50_000)}`)).toMatch(/^[ <a]+$/);
  expect((await reasonFor('x'.repeat(5000))).length).toBeLessThanOrEqual(400);
});

test.each([
  ['manager', { 'from-leader': true }],
  ['patroni', { from_leader: true, 'from-leader': true }],
])('reinitialize from the leader, in the words of an API of the dialect %s', async (dialect, body) => {
  const leader = await start();
  leader.answer = () => ({ status: 200, text: JSON.stringify({ [dialect]: { scope: 'demo' } }) });
  const operation = { kind: 'reinitialize', member: 'pg-1', from_leader: true } as const;
  const control = controlOf(leader.api, leader.api);
  expect(await control.plan(operation)).toMatchObject({ value: { body } });
  await control.perform(operation);
  expect(JSON.parse(leader.requests.at(-1)?.body ?? '')).toEqual(body);
});
