// The admin port under silent connections, and under requests from web pages of strangers.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef';
const sockets: Socket[] = [];
let admin: Admin;
let port: number;
let allowedHosts: readonly string[];
let metrics: () => Promise<string>;

beforeEach(async () => {
  allowedHosts = [];
  metrics = () => Promise.resolve('up 1\n');
  const options = adminOptions({
    address: { host: '0.0.0.0', port: 0 },
    allowedHosts: () => allowedHosts,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- passed through as it is
    status: () => ({ version: '1' }) as StatusDocument,
    metrics: () => metrics(),
    token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
  });
  admin = createAdmin(options);
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  port = listening.address.port;
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await admin.close();
});

async function silent(localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** The server is in this process. */
function standStill(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
}

/** The status code and the body. */
async function ask(request: string, localAddress = '127.0.0.1'): Promise<readonly [number, string]> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(`${request}\r\n\r\n`);
  await once(socket, 'close');
  return [Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text.slice(text.indexOf('\r\n\r\n') + 4)];
}

const LIVE = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1';

describe('silent connections', () => {
  test.each(['127.0.0.1', '127.0.0.9'])('200 of them block no probe from %s; the oldest are closed', async (from) => {
    const crowd: Socket[] = [];
    for (let number = 0; number < 200; number += 1) crowd.push(await silent('127.0.0.1'));
    expect(await ask(LIVE, from)).toEqual([200, 'ok\n']);
    await until('the end of the oldest', () => crowd.slice(0, 100).every(({ closed }) => closed));
    expect(crowd.at(-1)?.closed).toBe(false);
  });

  test('that come after a client leave it a moment for its request', async () => {
    const check = await silent('127.0.0.1');
    let told = '';
    check.setEncoding('latin1').on('data', (chunk: string) => (told += chunk));
    await Promise.all(Array.from({ length: 90 }, () => silent('127.0.0.1')));
    // By this answer the server has accepted them all.
    expect(await ask(LIVE, '127.0.0.9')).toEqual([200, 'ok\n']);
    check.write(`${LIVE}\r\n\r\n`);
    await once(check, 'close');
    expect(told).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('from many addresses block no probe', async () => {
    for (let number = 0; number < 200; number += 1) await silent(`127.0.1.${(number % 20) + 1}`);
    expect(await ask(LIVE)).toEqual([200, 'ok\n']);
  });

  test('of one address do not cost another address its connection', async () => {
    const other = await silent('127.0.0.9');
    for (let number = 0; number < 100; number += 1) await silent('127.0.0.1');
    await ask(LIVE);
    expect(other.closed).toBe(false);
  });

  test('are ended after two seconds, and an endless head gets an error with the reason', async () => {
    const [mute, slow] = [await silent('127.0.0.1'), await silent('127.0.0.1')];
    let told = '';
    slow.setEncoding('latin1').on('data', (chunk: string) => (told += chunk));
    mute.resume();
    slow.write('GET /livez HTTP/1.1\r\nHost: x');
    await until('both ends', () => mute.closed && slow.closed, 4000);
    expect(told).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('get no answer, which a browser would take for its next one, although this process stood still', async () => {
    const spare = await silent('127.0.0.1');
    let told = '';
    spare.setEncoding('latin1').on('data', (chunk: string) => (told += chunk));
    await ask(LIVE);
    standStill(2200);
    await until('the end', () => spare.closed, 4000);
    expect(told).toBe('');
  });

  test('a request that came while this process stood still is answered', async () => {
    const late = await silent('127.0.0.1');
    let told = '';
    late.setEncoding('latin1').on('data', (chunk: string) => (told += chunk));
    await ask(LIVE);
    late.write(`${LIVE}\r\n\r\n`);
    standStill(2200);
    await once(late, 'close');
    expect(told).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a request that is being answered is not dropped for them', async () => {
    const made = Promise.withResolvers<string>();
    metrics = () => made.promise;
    const asked = ask('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1');
    for (let number = 0; number < 100; number += 1) await silent('127.0.0.1');
    made.resolve('up 1\n');
    expect(await asked).toEqual([200, 'up 1\n']);
  });
});

describe('answers under way', () => {
  const BIG = `${'#'.repeat(99)}\n`.repeat(200_000);
  const METRICS = 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1';

  test('that nobody makes or reads leave room for a probe, and are refused above their limit', async () => {
    const made = Promise.withResolvers<string>();
    metrics = () => made.promise;
    const crowd = Array.from({ length: 200 }, (_, number) => ask(METRICS, `127.0.2.${(number % 50) + 1}`));
    expect(await ask(LIVE)).toEqual([200, 'ok\n']);
    made.resolve('up 1\n');
    const answers = await Promise.all(crowd);
    expect(answers.filter(([code]) => code === 200)).toHaveLength(32);
    const refusals = answers.filter(([code]) => code === 503);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals[0]?.[1]).toContain('32 answers are under way');
  });

  test('that are not taken make room for one that is', async () => {
    metrics = () => Promise.resolve(BIG);
    for (let number = 0; number < 40; number += 1) {
      const socket = await silent(`127.0.2.${number + 1}`);
      socket.pause();
      socket.write(`${METRICS}\r\n\r\n`);
    }
    await until('room', async () => (await ask(METRICS))[0] === 200, 5_000);
  });
});

test('one document is made at a time: requests meanwhile share the next one', async () => {
  let made = 0;
  const first = Promise.withResolvers<void>();
  metrics = async () => {
    made += 1;
    const number = made;
    if (number === 1) await first.promise;
    return `made ${number}\n`;
  };
  const request = 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1';
  const early = ask(request);
  await until('the first', () => made === 1);
  const late = Array.from({ length: 10 }, () => ask(request));
  expect(await ask(LIVE)).toEqual([200, 'ok\n']);
  first.resolve();
  expect(await early).toEqual([200, 'made 1\n']);
  expect(new Set((await Promise.all(late)).map(([, body]) => body))).toEqual(new Set(['made 2\n']));
});

describe('the Host of a request', () => {
  test.each([
    '127.0.0.1:8432',
    '[::1]:8432',
    '10.1.2.3',
    'localhost:8432',
    'pointsman:8432',
    'pointsman.databases.svc',
    'pointsman.databases.svc.cluster.local.:8432',
    'db1.internal',
  ])('%s: an address, or a name that no public DNS has', async (host) => {
    for (const path of ['/metrics', '/status', '/livez', '/readyz']) {
      expect((await ask(`GET ${path} HTTP/1.1\r\nHost: ${host}`))[0]).toBe(200);
    }
  });

  test.each(['evil.example', 'evil.example:8432', '127.0.0.1.evil.example', 'localhost.evil.example', 'a@b.c'])(
    '%s: a public name gets no document; the error names the setting that allows it',
    async (host) => {
      for (const path of ['/metrics', '/status']) {
        const [status, body] = await ask(`GET ${path} HTTP/1.1\r\nHost: ${host}`);
        expect(status).toBe(403);
        expect(body).toContain('admin.allowed_hosts');
      }
      expect((await ask(`GET /livez HTTP/1.1\r\nHost: ${host}`))[0]).toBe(200);
      expect((await ask(`GET /readyz HTTP/1.1\r\nHost: ${host}`))[0]).toBe(200);
    },
  );

  test.each([['Metrics.Example.com'], ['*']])('admin.allowed_hosts: %s allows it', async (name) => {
    allowedHosts = [name];
    expect((await ask('GET /status HTTP/1.1\r\nHost: metrics.example.com:8432'))[0]).toBe(200);
  });
});

describe('a web page of another origin', () => {
  test.each(['http://evil.example', 'null', 'http://127.0.0.1:1'])('%s gets no document', async (origin) => {
    expect((await ask(`GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: ${origin}`))[0]).toBe(403);
  });

  test('cannot operate, although it has the token; a page of this origin can', async () => {
    const head =
      'POST /refresh HTTP/1.1\r\nHost: 127.0.0.1\r\n' +
      `Authorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;
    expect((await ask(`${head}\r\nContent-Length: 0\r\nOrigin: http://evil.example`))[0]).toBe(403);
    expect((await ask(`${head}\r\nContent-Length: 0\r\nOrigin: http://127.0.0.1`))[0]).toBe(200);
  });

  test('cannot operate by a public name of its own, as after DNS rebinding', async () => {
    const head =
      'POST /refresh HTTP/1.1\r\nHost: evil.example\r\n' +
      `Authorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 0`;
    expect((await ask(head))[0]).toBe(403);
  });
});
