// The API over TLS: verification uses the name in the URL, at any address.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { readKeyPair } from '../../../src/config/files/key-pair.ts';
import { readPem } from '../../../src/config/files/pem.ts';
import type { ApiTls } from '../../../src/model/cluster-config.ts';
import type { ApiEndpoint } from '../../../src/model/member.ts';
import { send } from '../../../src/patroni/http.ts';
import { tlsFromFiles as tlsFromFilesWith, type TlsFilesOptions } from '../../../src/patroni/tls-files.ts';
import { requestOf } from '../../../src/patroni/write-requests.ts';
import { createWrite } from '../../../src/patroni/write.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { OTHER, SERVER } from '../../support/values/tls-files.ts';
import { until } from '../../support/waiting/until.ts';

const FILES = new URL('../../fixtures/tls/', import.meta.url);
const file = (name: string): string => fileURLToPath(new URL(name, FILES));
const tlsFromFiles = (files: ApiTls, more: Partial<TlsFilesOptions> = {}) =>
  tlsFromFilesWith(files, { readPem, readKeyPair, ...more });
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

test.each([
  ['none', undefined, 'the server requires a client certificate (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)'],
  [
    'one of an unknown authority',
    SERVER,
    'the server refuses the client certificate: unknown ca (ERR_SSL_TLSV1_ALERT_UNKNOWN_CA)',
  ],
  [
    'an expired one',
    { ...OTHER, cert: file('expired.pem') },
    'the server refuses the client certificate: certificate expired (ERR_SSL_',
  ],
])('an API that verifies clients with OpenSSL, as Patroni does, and a client certificate: %s', async (_, pair, why) => {
  const api = await opensslServer();
  const tls = tlsFromFiles({ ca: file('ca.pem'), ...pair });
  const answer = await createWrite({ tls })(api, requestOf({ kind: 'reload' }));
  // The request had left, and the server did not read it.
  expect(answer).toEqual({ kind: 'no_answer', why: expect.stringContaining(`TLS failed: ${why}`), isSent: false });
});

/** Ends with the test. Node's server closes the connection without an alert. */
async function opensslServer(): Promise<ApiEndpoint> {
  const files = ['-cert', SERVER.cert, '-key', SERVER.key, '-CAfile', file('other-ca.pem')];
  const verify = ['-Verify', '1', '-verify_return_error', '-www'];
  const child = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...files, ...verify]);
  onTestFinished(() => void child.kill());
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const found = await until('the port of openssl', () => /ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
  return { url: `https://pg-a.test:${found}`, address: { host: '127.0.0.1', port: Number(found) } };
}

test('rotated files apply without a restart; broken ones change nothing, and are told once each', async () => {
  await close(server);
  await serve({ requestCert: true });
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = { ca: join(folder, 'ca.pem'), cert: join(folder, 'a.pem'), key: join(folder, 'a.key') };
  const put = (ca: string, cert: string, key: string): Promise<unknown> =>
    Promise.all([copyFile(file(ca), files.ca), copyFile(file(cert), files.cert), copyFile(file(key), files.key)]);
  const refused: string[] = [];
  const source = tlsFromFiles(files, { rereadAfterMs: 0, onRefused: (why) => refused.push(why) });
  const answers = async (): Promise<boolean> => (await send({ ...at('pg-a.test'), tls: source })).kind === 'answered';
  await put('other-ca.pem', 'other.pem', 'other.key');
  expect(await answers()).toBe(false);
  await put('ca.pem', 'server.pem', 'server.key');
  await until('the new files', answers);
  expect(refused).toEqual([]);

  const broken: [keyof typeof files, string, string][] = [
    ['key', readFileSync(file('other.key'), 'utf8'), 'is not the key of cert'],
    ['cert', readFileSync(file('server.pem'), 'utf8').slice(0, 300), 'is not a certificate in PEM'],
    ['ca', '', 'is not a certificate in PEM'],
  ];
  for (const [name, content, why] of broken) {
    const good = await readFile(files[name], 'utf8');
    await replaceFile(files[name], content);
    await until(`${name} told`, async () => (await answers()) && refused.length > 0);
    expect(await answers()).toBe(true);
    expect(refused.splice(0)).toEqual([`cluster.api.tls.${name} ${files[name]} ${why}`]);
    await replaceFile(files[name], good);
    await until('the good file', async () => (await answers()) && (await source()).key !== undefined);
  }
  await rm(folder, { recursive: true });
  await until('the lost files told', async () => (await answers()) && refused.length > 0);
  expect(await answers()).toBe(true);
});

/** At once: a read between two writes would find half a file, and tell it. */
async function replaceFile(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

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
