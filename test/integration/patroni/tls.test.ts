// The API over TLS: verification uses the name in the URL, at any address.
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send } from '../../../src/patroni/http.ts';
import { tlsFromFiles } from '../../../src/patroni/tls-files.ts';
import { requestOf } from '../../../src/patroni/write-requests.ts';
import { createWrite } from '../../../src/patroni/write.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { until } from '../../support/waiting/until.ts';

const FILES = new URL('../../fixtures/tls/', import.meta.url);
const file = (name: string): string => fileURLToPath(new URL(name, FILES));
const trusting = tlsFromFiles({ ca: file('ca.pem') });

let server: Server;
let port = 0;
let servernames: unknown[] = [];

async function serve(options: { requestCert?: boolean } = {}): Promise<void> {
  servernames = [];
  server = createServer(
    {
      key: readFileSync(file('server.key')),
      cert: readFileSync(file('server.pem')),
      ca: readFileSync(file('ca.pem')),
      ...options,
      rejectUnauthorized: options.requestCert ?? false,
    },
    (socket) => {
      servernames.push(socket.servername);
      socket.on('error', () => {});
      socket.on('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\n{}'));
    },
  );
  server.on('tlsClientError', () => {});
  port = await listen(server);
}

beforeEach(() => serve());
afterEach(() => close(server));

function at(name: string) {
  return { api: { url: `https://${name}:${port}`, address: { host: '127.0.0.1', port } }, path: '/', deadlineMs: 2000 };
}

test('a name in the certificate', async () => {
  expect(await send({ ...at('pg-a.test'), tls: trusting })).toEqual({ kind: 'answered', status: 200, body: '{}' });
  expect(servernames).toEqual(['pg-a.test']);
});

test('an address in the certificate, which is no server name', async () => {
  expect(await send({ ...at('127.0.0.1'), tls: trusting })).toMatchObject({ kind: 'answered' });
  expect(servernames).toEqual([false]);
});

test.each([
  ['a name that it has not', 'pg-b.test', trusting, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['an authority that is not trusted', 'pg-a.test', undefined, 'SELF_SIGNED_CERT_IN_CHAIN'],
])('%s', async (_, name, tls, code) => {
  expect(await send({ ...at(name), tls })).toMatchObject({
    kind: 'failed',
    cause: 'tls',
    detail: expect.stringContaining(code),
  });
});

test('insecure verifies nothing', async () => {
  expect(await send({ ...at('pg-b.test'), tls: tlsFromFiles({ insecure: true }) })).toMatchObject({ kind: 'answered' });
});

test('a write request with the authority and a client certificate', async () => {
  await close(server);
  await serve({ requestCert: true });
  const tls = tlsFromFiles({ ca: file('ca.pem'), cert: file('server.pem'), key: file('server.key') });
  const answer = await createWrite({ tls })(at('pg-a.test').api, requestOf({ kind: 'reload' }));
  expect(answer).toMatchObject({ kind: 'answered', status: 200 });
  const untrusted = await createWrite({})(at('pg-a.test').api, requestOf({ kind: 'reload' }));
  expect(untrusted).toMatchObject({ kind: 'no_answer', isSent: false, why: expect.stringContaining('TLS failed') });
});

test('a client certificate, if the API requires one', async () => {
  await close(server);
  await serve({ requestCert: true });
  expect(await send({ ...at('pg-a.test'), tls: trusting })).toMatchObject({ kind: 'failed' });
  const mutual = tlsFromFiles({ ca: file('ca.pem'), cert: file('server.pem'), key: file('server.key') });
  expect(await send({ ...at('pg-a.test'), tls: mutual })).toMatchObject({ kind: 'answered' });
});

test('a rotated file applies without a restart, and a lost one changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-tls-'));
  const ca = join(folder, 'ca.pem');
  await writeFile(ca, '');
  const source = tlsFromFiles({ ca }, 0);
  expect(await source()).toMatchObject({ ca: '' });
  await copyFile(file('ca.pem'), ca);
  await until('the new file', async () => (await source()).ca?.includes('BEGIN CERTIFICATE'));
  await rm(folder, { recursive: true });
  await source();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await send({ ...at('pg-a.test'), tls: source })).toMatchObject({ kind: 'answered' });
});

test('G12: an unreadable file is a local fault', async () => {
  const tls = tlsFromFiles({ ca: file('missing.pem') });
  expect(await send({ ...at('pg-a.test'), tls })).toMatchObject({
    kind: 'failed',
    cause: 'local',
    detail: expect.stringContaining('there is no such file'),
  });
});

test('http spoken to https, and https to http, are no evidence', async () => {
  const plain = await FakeMember.start('pg-1');
  const { host, port: plainPort } = plain.address;
  const wrong = { url: `https://pg-a.test:${plainPort}`, address: { host, port: plainPort } };
  plain.set({ raw: 'HTTP/1.0 400 Bad\r\n\r\n' });
  expect(await send({ api: wrong, path: '/', deadlineMs: 300, tls: trusting })).toMatchObject({ kind: 'failed' });
  expect(
    await send({ ...at('pg-a.test'), api: { ...at('pg-a.test').api, url: `http://pg-a.test:${port}` } }),
  ).toMatchObject({
    kind: 'failed',
  });
  await plain.stop();
});
