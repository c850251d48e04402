// Every row of the table of endpoints is called by strangers: without a token, from a foreign page, as a form, slowly,
// and with too much. A new endpoint is covered by itself. No refused request reaches anything behind the server.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpointsOf } from '../../../src/admin/endpoints/endpoints.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';

const TOKEN = '0123456789abcdef-secret';
const EVIL = 'evil.example';

const reached: string[] = [];
const options = adminOptions({ token: () => Promise.resolve({ kind: 'token', value: TOKEN }) });
/** Permission and address are checked by these; everything else is behind the server. */
const ITS_OWN = ['address', 'token', 'allowedHosts', 'operationLock'];
const admin = createAdmin({ ...options, ...watched(options, ITS_OWN) });
const ENDPOINTS = endpointsOf(options);
const OPERATIONS = ENDPOINTS.filter(({ access }) => access === 'operation').map(({ path }) => path);
const GUARDED = ENDPOINTS.filter(({ access }) => access === 'operation' || access === 'private');
const PROBES = ENDPOINTS.filter(({ access }) => access === 'probe').map(({ path }) => path);
const DOCUMENTS = ENDPOINTS.filter(({ access }) => access === 'read' || access === 'private').map(({ path }) => path);

/** The same parts; each call of a function is recorded. */
function watched<T extends object>(parts: T, but: readonly string[] = []): T {
  return new Proxy(parts, {
    get(target, key, receiver) {
      const value: unknown = Reflect.get(target, key, receiver);
      if (but.includes(String(key))) return value;
      if (typeof value === 'function') {
        return (...given: unknown[]): unknown => {
          reached.push(String(key));
          return Reflect.apply(value, target, given);
        };
      }
      return typeof value === 'object' && value !== null ? watched(value) : value;
    },
  });
}

let port: number;
beforeAll(async () => {
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
});
afterAll(() => admin.close());

const sockets: Socket[] = [];
beforeEach(() => {
  reached.length = 0;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Default: the length of the body. */
  readonly length?: number;
}

const RIGHT = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** Sends the bytes as they are. Resolves with the status and the body, at the end of the connection. */
async function send(pattern: string, sent: Sent = {}): Promise<{ readonly status: number; readonly body: string }> {
  const { method = 'POST', host = '127.0.0.1', headers = RIGHT, body = '{}', length = body.length } = sent;
  const path = pattern.replaceAll(/[A-Z]+/g, '1');
  const lines = Object.entries({ host, ...headers, 'content-length': String(length) });
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => {}).once('close', () => resolve());
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
  await promise;
  const at = text.indexOf('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), body: text.slice(at + 4) };
}

test('the table has operations, documents and health checks', () => {
  expect(OPERATIONS.length).toBeGreaterThan(15);
  expect([PROBES.length > 2, DOCUMENTS.length > 5]).toEqual([true, true]);
});

test('what reaches the parts behind the server is noticed', async () => {
  expect((await send('/refresh')).status).toBe(200);
  expect(reached).toEqual(['refresh']);
});

describe.each(GUARDED)('$method $path', ({ path, method }) => {
  afterEach(() => expect(reached).toEqual([]));

  test.each([
    ['no token', {}],
    ['a wrong token', { authorization: `Bearer ${TOKEN}x` }],
    ['the token as a password', { authorization: `Basic ${btoa(`admin:${TOKEN}`)}` }],
    ['the token as a cookie', { cookie: `token=${TOKEN}` }],
  ])('%s: 401, and the answer does not contain the token', async (_, headers) => {
    const answer = await send(path, { method, headers: { 'content-type': 'application/json', ...headers } });
    expect(answer.status).toBe(401);
    expect(answer.body).not.toContain(TOKEN);
  });

  test('a foreign page with the token: 403', async () => {
    for (const origin of [`http://${EVIL}`, 'null']) {
      expect((await send(path, { method, headers: { ...RIGHT, origin } })).status).toBe(403);
    }
  });

  test('a foreign name of the host with the token: 403', async () => {
    for (const host of [EVIL, `127.0.0.1.${EVIL}:${port}`]) {
      expect((await send(path, { method, host })).status).toBe(403);
    }
  });
});

describe.each(OPERATIONS)('POST %s', (path) => {
  afterEach(() => expect(reached).toEqual([]));

  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('by %s: 405', async (method) => {
    const isDocument = DOCUMENTS.includes(path) && (method === 'GET' || method === 'HEAD');
    if (!isDocument) expect((await send(path, { method })).status).toBe(405);
  });

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain', 'text/json'])(
    'as %s: 415',
    async (type) => {
      expect((await send(path, { headers: { ...RIGHT, 'content-type': type } })).status).toBe(415);
    },
  );

  test('without a content type: 415', async () => {
    expect((await send(path, { headers: { authorization: RIGHT.authorization } })).status).toBe(415);
  });

  test.each(['[]', 'null', '{', '"x"', '{ "surely_unknown": 1 }', '{ "__proto__": { "x": 1 } }'])(
    'with the body %s: 400',
    async (body) => {
      expect((await send(path, { body })).status).toBe(400);
    },
  );

  test('with a body over its limit: 413', async () => {
    const most = ENDPOINTS.find((one) => one.method === 'POST' && one.path === path)?.mostBodyBytes ?? 0;
    expect(most).toBeLessThanOrEqual(64 * 1024);
    const body = `{ "x": "${'x'.repeat(most)}" }`;
    expect((await send(path, { body })).status).toBe(413);
  });
});

test.each(DOCUMENTS)('GET %s: not for a foreign page, and not under a foreign name of the host', async (path) => {
  const asked = { method: 'GET', body: '' };
  expect((await send(path, { ...asked, headers: { ...RIGHT, origin: `http://${EVIL}` } })).status).toBe(403);
  expect((await send(path, { ...asked, host: EVIL })).status).toBe(403);
  expect(reached).toEqual([]);
});

test.each(ENDPOINTS.filter(({ method }) => method === 'GET').map(({ path }) => path))('PUT %s: 405', async (path) => {
  expect((await send(path, { method: 'PUT' })).status).toBe(405);
  expect(reached).toEqual([]);
});

test('bodies that never end: each operation is answered by the deadline of the server, together', async () => {
  // More than 32 connections from one address would be closed earlier.
  const unfinished = OPERATIONS.slice(0, 30).map((path) => send(path, { body: '{', length: 1000 }));
  const statuses = (await Promise.all(unfinished)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([408]));
  expect(reached).toEqual([]);
}, 15_000);

test('no answer allows another origin to read it', async () => {
  for (const path of PROBES) {
    const response = await fetch(`http://127.0.0.1:${port}${path.replaceAll(/[A-Z]+/g, '1')}`);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});
