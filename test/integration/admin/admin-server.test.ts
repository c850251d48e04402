// The admin port with real sockets: the answer of each path, and its treatment of misbehaving clients.
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin, AdminOptions } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { statusOf } from '../../support/page/status.ts';

const status = statusOf({});

const opened: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Started {
  readonly admin: Admin;
  readonly port: number;
  readonly url: string;
}

const quiet = adminOptions({ status: () => status, metrics: () => Promise.resolve('up 1\n') });

async function start(overrides: Partial<AdminOptions> = {}): Promise<Started> {
  const admin = createAdmin({ ...quiet, ...overrides });
  opened.push(() => admin.close());
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  const { host, port } = listening.address;
  return { admin, port, url: `http://${host}:${port}` };
}

/** Sends the bytes unchanged and reads until the server ends the connection. */
function exchange(port: number, bytes: Buffer | string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('end', () => {
      socket.destroy();
      resolve(text);
    });
    socket.on('error', reject);
  });
}

describe('paths', () => {
  test('/livez', async () => {
    const { url } = await start({ readiness: () => ({ ready: false, why: 'shutting down' }) });
    const response = await fetch(`${url}/livez`);
    expect([response.status, await response.text()]).toEqual([200, 'ok\n']);
  });

  test('/readyz follows readiness, with the reason in the body', async () => {
    let why: string | undefined = 'the first probe round is not complete';
    const { url } = await start({ readiness: () => (why === undefined ? { ready: true } : { ready: false, why }) });
    const before = await fetch(`${url}/readyz`);
    expect([before.status, await before.json()]).toEqual([503, { api_version: 1, error: why }]);
    why = undefined;
    const after = await fetch(`${url}/readyz`);
    expect([after.status, await after.text()]).toEqual([200, 'ready\n']);
  });

  test('/metrics', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/metrics?x=1`);
    expect([response.status, await response.text()]).toEqual([200, 'up 1\n']);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test('/status', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/status`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect([response.status, await response.json()]).toEqual([200, { api_version: 1, ...status }]);
  });

  test('every answer ends its connection and forbids caching', async () => {
    const { url } = await start();
    const { headers } = await fetch(`${url}/livez`);
    expect([headers.get('connection'), headers.get('cache-control')]).toEqual(['close', 'no-store']);
  });

  test('HEAD is GET without the body', async () => {
    const { port } = await start();
    const text = await exchange(port, 'HEAD /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/content-length: 6\r\n/);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });

  test('an unknown path names the known ones', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/health`);
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        api_version: 1,
        error: expect.stringMatching(
          /^not found: the paths are \/livez, .*\/status, .* and with POST \/.*\/members\/NAME\/drain/,
        ),
      },
    ]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s changes nothing', async (method) => {
    const { url } = await start();
    const response = await fetch(`${url}/status`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await response.json()).toEqual({ api_version: 1, error: '/status accepts only GET and HEAD' });
  });

  test('an internal failure is a 500 with its message, and the next request is served', async () => {
    const { url } = await start({ metrics: () => Promise.reject(new Error('no such label')) });
    const response = await fetch(`${url}/metrics`);
    expect([response.status, await response.json()]).toEqual([500, { api_version: 1, error: 'no such label' }]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });
});

describe('misbehaving clients', () => {
  test('scenario 34: a PostgreSQL startup packet gets a 400', async () => {
    const { port, url } = await start();
    const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
    const text = await exchange(port, sslRequest);
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(text).toContain('this port serves HTTP');
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  test('headers over the limit get a 431', async () => {
    const { port } = await start();
    const text = await exchange(port, `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(16_384)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe('life', () => {
  test('a port in use returns an error that names the address', async () => {
    const { port } = await start();
    const admin = createAdmin({ ...quiet, address: { host: '127.0.0.1', port } });
    expect(await admin.listen()).toEqual({
      kind: 'failed',
      detail: `admin.address 127.0.0.1:${port} is already in use`,
    });
    await admin.close();
  });

  // This deadline is shorter than the server's own deadline for a silent connection.
  const soon = { timeout: 4000 };
  test('close ends a request under way, frees the port, and may run twice', soon, async () => {
    const asked = Promise.withResolvers<void>();
    const metrics = (): Promise<string> => {
      asked.resolve();
      return new Promise(() => {});
    };
    const { admin, port } = await start({ metrics });
    const waiting = exchange(port, 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n').catch(() => 'reset');
    await asked.promise;
    await admin.close();
    expect(['', 'reset']).toContain(await waiting);
    await admin.close();
    await expect(exchange(port, '')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
