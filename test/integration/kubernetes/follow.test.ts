// The members as Kubernetes lists them, followed through every behaviour of an API server.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { addressText } from '../../../src/model/member.ts';
import { createMembersSource } from '../../../src/kubernetes/members-source.ts';
import type { KubernetesConfig } from '../../../src/model/cluster-config.ts';
import type { MembersSource } from '../../../src/kubernetes/members-source.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { startBlackHole } from '../../support/fakes/black-hole.ts';
import { FakeApiServer } from '../../support/fakes/kubernetes/api-server.ts';
import { aPod, aSlice, PODS, SLICES } from '../../support/fakes/kubernetes/objects.ts';
import { OTHER } from '../../support/values/tls-files.ts';
import { readFileSync } from 'node:fs';
import { until } from '../../support/waiting/until.ts';

let api: FakeApiServer;
let source: MembersSource | undefined;
let news = 0;

beforeEach(async () => {
  api = await FakeApiServer.start();
  news = 0;
  api.put(PODS, aPod('pg-0', '10.0.0.1', { role: 'primary' }));
  api.put(PODS, aPod('pg-1', '10.0.0.2'));
});

afterEach(async () => {
  source?.close();
  await api.stop();
});

function following(
  config: Partial<KubernetesConfig> = {},
  pace: Parameters<typeof createMembersSource>[0]['pace'] = {},
) {
  source = createMembersSource({
    config: {
      namespace: undefined,
      service: undefined,
      labels: 'application=patroni,cluster-name=demo',
      roleLabel: 'role',
      port: 8008,
      scheme: 'http',
      server: api.url,
      credentials: api.credentials,
      ...config,
    },
    clock: systemClock,
    random: () => 0,
    onNews: () => (news += 1),
    pace: { leastPauseMs: 20, mostPauseMs: 50, ...pace },
  });
  return source;
}

async function places(): Promise<readonly string[]> {
  return (await source?.find())?.endpoints.map(({ address }) => addressText(address)) ?? [];
}

async function why(): Promise<string | undefined> {
  return (await source?.find())?.failing?.why;
}

const FIRST = ['10.0.0.1:8008', '10.0.0.2:8008'];

async function watched(): Promise<void> {
  await until('a watch', () => api.watchers === 1);
}

describe('pods by their labels', () => {
  test('are listed, and followed as they come and go', async () => {
    following();
    expect(await places()).toEqual(FIRST);
    await watched();
    api.put(PODS, aPod('pg-2', '10.0.0.3'));
    await until('the third', async () => (await places()).length === 3);
    api.remove(PODS, 'pg-0');
    await until('the loss', async () => (await places()).join() === '10.0.0.2:8008,10.0.0.3:8008');
    expect(api.requests.map(({ pathname }) => pathname)).toEqual([PODS, PODS]);
    expect(api.requests[0]?.searchParams.get('labelSelector')).toBe('application=patroni,cluster-name=demo');
    await until('news', () => news > 0);
  });

  test('without an address, of another cluster, or ended: no member; one address counts once', async () => {
    api.put(PODS, aPod('pg-2', undefined));
    api.put(PODS, aPod('other', '10.0.0.9', { labels: { 'cluster-name': 'other' } }));
    api.put(PODS, aPod('backup', '10.0.0.8', { phase: 'Succeeded' }));
    api.put(PODS, aPod('twin', '10.0.0.2'));
    api.put(PODS, aPod('leaving', '10.0.0.4', { metadata: { deletionTimestamp: '2026-11-21T00:00:00Z' } }));
    following();
    expect(await places()).toEqual(['10.0.0.4:8008', ...FIRST]);
    await watched();
    api.put(PODS, aPod('pg-2', 'fd00::3'));
    await until('its address', async () => (await places()).includes('[fd00::3]:8008'));
  });

  test('supply the port of the given name, and their own name for TLS', async () => {
    api.put(PODS, aPod('pg-0', '10.0.0.1', { spec: { hostname: 'pg-0', subdomain: 'pods' } }));
    api.put(PODS, aPod('pg-1', '10.0.0.2', { spec: { containers: [{}] } }));
    const { endpoints } = await following({ port: 'patroni', scheme: 'https' }).find();
    expect(endpoints).toEqual([{ url: 'https://pg-0.pods.db.svc:8008', address: { host: '10.0.0.1', port: 8008 } }]);
  });

  test('a changed role label causes an event and no other change', async () => {
    following();
    await places();
    await watched();
    api.put(PODS, aPod('pg-1', '10.0.0.2', { role: 'primary' }));
    await until('news', () => news === 1);
    expect(await places()).toEqual(FIRST);
  });

  test('entries that are not pods are ignored', async () => {
    api.put(PODS, { metadata: { name: 'odd', labels: { application: 'patroni', 'cluster-name': 'demo' } }, spec: 5 });
    following();
    expect(await places()).toEqual(FIRST);
  });
});

describe('the endpoints of a service', () => {
  test('of every slice, ready or not, at their first address', async () => {
    api.put(SLICES, aSlice('pg-abc', 'pg', '10.0.0.1', '10.0.0.2'));
    api.put(SLICES, aSlice('pg-def', 'pg', 'fd00::1'));
    api.put(SLICES, aSlice('app-abc', 'app', '10.0.0.7'));
    following({ service: 'pg', port: 'patroni' });
    expect(await places()).toEqual(['10.0.0.1:8009', '10.0.0.2:8009', '[fd00::1]:8009']);
    await watched();
    api.put(SLICES, aSlice('pg-abc', 'pg', '10.0.0.3'));
    await until('the change', async () => (await places()).join() === '10.0.0.3:8009,[fd00::1]:8009');
  });
});

describe('a watch that ends', () => {
  test('in order continues from its last version', async () => {
    following();
    await places();
    await watched();
    api.bookmark();
    api.put(PODS, aPod('pg-2', '10.0.0.3'));
    await until('the third', async () => (await places()).length === 3);
    api.endWatches();
    api.put(PODS, aPod('pg-3', '10.0.0.4'));
    await until('the fourth', async () => (await places()).length === 4);
    expect(api.requests.filter(({ searchParams }) => !searchParams.has('watch'))).toHaveLength(1);
  });

  test.each([
    ['cut', () => api.cutWatches()],
    ['with half an event', () => (api.send('{"type":"MODI'), api.endWatches())],
    ['with an event that is no JSON', () => api.send('{"type":\n')],
    ['with an event of no kind that we know', () => api.send('{"type":"PARTED","object":{"metadata":{}}}\n')],
    ['with an object beyond all bounds', () => api.send('x'.repeat(3 * 1024 * 1024))],
  ])('%s: the known list stays, and the watch continues from its last version', async (_, end) => {
    following();
    await places();
    await watched();
    const before = api.requests.length;
    end();
    await until('another watch', () => api.requests.length > before && api.watchers === 1);
    expect(await places()).toEqual(FIRST);
    api.put(PODS, aPod('pg-2', '10.0.0.3'));
    await until('the third', async () => (await places()).length === 3);
    expect(api.requests.filter(({ searchParams }) => !searchParams.has('watch'))).toHaveLength(1);
    expect(await why()).toBeUndefined();
  });

  test.each([
    ['in the stream', () => api.compact()],
    ['as the answer', () => (api.cutWatches(), api.compact())],
  ])('because its version is gone (410 %s) is followed by a new list of the newest version', async (_, end) => {
    following();
    await places();
    await watched();
    end();
    api.remove(PODS, 'pg-0');
    await until('the new list', async () => (await places()).join() === '10.0.0.2:8008');
    const lists = api.requests.filter(({ searchParams }) => !searchParams.has('watch'));
    expect(lists.map(({ searchParams }) => searchParams.get('resourceVersion'))).toEqual(['0', null]);
  });

  test('in silence is dropped', async () => {
    following({}, { quietMs: 100 });
    await places();
    await until('a second watch', () => api.requests.length >= 3);
    expect(await places()).toEqual(FIRST);
  });

  test('events are joined from pieces of any size', async () => {
    following();
    await places();
    await watched();
    const object = { ...aPod('pg-2', '10.0.0.3'), metadata: { name: 'pg-2', labels: {}, resourceVersion: '5000' } };
    const line = `${JSON.stringify({ type: 'ADDED', object })}\n`;
    for (let at = 0; at < line.length; at += 7) api.send(line.slice(at, at + 7));
    await until('the third', async () => (await places()).length === 3);
  });
});

describe('an unreachable API server', () => {
  test('that takes no connection: a list, and a watch, do not wait for as long as they may be silent', async () => {
    const hole = await startBlackHole();
    onTestFinished(() => hole.stop());
    await hole.swallow();
    following({ server: hole.api.url }, { connectMs: 100 });
    await until('the reason', async () => (await why()) === 'no connection within 100 ms');
  });

  test.each([
    ['unavailable', 'the API server answered 503: etcd is gone'],
    ['forbidden', 'the API server answered 403: the service account may not list and watch them'],
    ['reset', 'connection closed before the answer was whole'],
    ['not-json', 'is not valid JSON'],
    ['huge', 'answer too large (more than'],
  ] as const)('%s: at first it is reported, then waited for', async (mood, expected) => {
    api.mood = mood;
    following();
    expect(await places()).toEqual([]);
    await until('the reason', async () => (await why())?.includes(expected) ?? false);
    api.mood = 'well';
    await until('the list', async () => (await places()).length === 2);
    expect(await why()).toBeUndefined();
  });

  test('later: the last list stays, with the time and the reason, until the server is back', async () => {
    following();
    await places();
    await watched();
    api.mood = 'unavailable';
    api.cutWatches();
    await until('the failure', async () => (await why())?.includes('503') ?? false);
    const { endpoints, failing } = (await source?.find()) ?? { endpoints: [], failing: undefined };
    expect(endpoints).toHaveLength(2);
    expect(failing?.since).toBeTypeOf('number');
    api.mood = 'well';
    await until('health', async () => (await why()) === undefined);
  });

  test('a silent server has a deadline', async () => {
    api.mood = 'silent';
    following({}, { listMs: 100 });
    expect((await source?.find())?.failing?.why).toBe('no whole list within 100 ms');
  });
});

describe('credentials', () => {
  test('a token that rotates is read again', async () => {
    following();
    await places();
    await watched();
    api.token = 'token-2';
    api.cutWatches();
    await until(
      'the refusal',
      async () => (await why()) === 'the API server answered 401: the token is not accepted: Unauthorized',
    );
    api.mount({ token: 'token-2\n' });
    await until('health', async () => (await why()) === undefined);
    expect(await places()).toEqual(FIRST);
  });

  test('a server without a certificate of the CA never sees the token', async () => {
    writeFileSync(join(api.credentials, 'ca.crt'), readFileSync(OTHER.cert));
    following();
    await until('the refusal', async () => (await why()) !== undefined);
    expect(await why()).toMatch(/certificate|CERT|verify/i);
    expect(api.requests).toEqual([]);
  });

  test('without a token the error names the places searched', async () => {
    rmSync(join(api.credentials, 'token'));
    following();
    await places();
    expect(await why()).toBe(
      `${join(api.credentials, 'token')} cannot be read: there is no such file: is a service account mounted?`,
    );
  });

  test('outside a pod the error names the missing settings', async () => {
    following({ server: undefined });
    await places();
    expect(await why()).toContain('give cluster.kubernetes.server');
  });
});

test('after close it sends no request', async () => {
  following();
  await places();
  await watched();
  source?.close();
  await until('no watch', () => api.watchers === 0);
  const before = api.requests.length;
  await source?.find();
  expect(api.requests).toHaveLength(before);
});
