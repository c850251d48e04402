// The checks that a load balancer in front of several Pointsmans calls.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PoolReadiness } from '../../../src/admin/endpoints/probe-endpoints.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';

let pools: readonly PoolReadiness[];
let url: string;
const admin = createAdmin(adminOptions({ pools: () => pools }));

beforeAll(async () => {
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  url = `http://127.0.0.1:${listening.address.port}`;
});
afterAll(() => admin.close());

const why = 'no eligible member, clients wait';
beforeEach(() => {
  pools = [
    { name: 'read', isExclusive: false, readiness: { ready: false, why } },
    { name: 'reports', isExclusive: false, readiness: { ready: true } },
    { name: 'write', isExclusive: true, readiness: { ready: true } },
  ];
});

test.each(['GET', 'HEAD', 'OPTIONS'])('%s: 200 when the pool can serve now, else 503', async (method) => {
  const statusOf = async (path: string): Promise<number> => (await fetch(`${url}${path}`, { method })).status;
  const paths = ['/primary', '/replica', '/pools/write/ready', '/pools/read/ready', '/pools/reports/ready'];
  expect(await Promise.all(paths.map(statusOf))).toEqual([200, 503, 200, 503, 200]);
});

test('the body has the pool and the reason', async () => {
  expect(await (await fetch(`${url}/primary`)).json()).toEqual({ api_version: 1, pool: 'write', ready: true });
  expect(await (await fetch(`${url}/replica`)).json()).toEqual({
    api_version: 1,
    pool: 'read',
    ready: false,
    error: why,
  });
});

test('a pool that does not exist', async () => {
  pools = pools.slice(0, 2);
  const response = await fetch(`${url}/primary`);
  expect([response.status, await response.json()]).toEqual([503, { api_version: 1, error: 'no pool is exclusive' }]);
  const unknown = await fetch(`${url}/pools/report/ready`);
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { api_version: 1, error: 'unknown pool report: did you mean reports? The pools are read, reports' },
  ]);
});

test('they accept every host name, and no other method', async () => {
  expect((await fetch(`${url}/primary`, { headers: { origin: 'http://evil.example' } })).status).toBe(200);
  expect((await fetch(`${url}/primary`, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});
