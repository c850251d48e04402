// TLS to the backend of a branch, against servers that answer the request for encryption in every way.
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { TLSSocket, createSecureContext } from 'node:tls';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { readKeyPair } from '../../../../../src/config/files/key-pair.ts';
import { readPem } from '../../../../../src/config/files/pem.ts';
import type { Address } from '../../../../../src/model/member.ts';
import type { TlsFault } from '../../../../../src/model/tls-fault.ts';
import { tlsDial } from '../../../../../src/proxy/connect/tls/dial-tls.ts';
import { ServerTrust } from '../../../../../src/proxy/connect/tls/server-trust.ts';
import { dialTcp } from '../../../../../src/proxy/connect/dial.ts';
import type { Dial, DialResult } from '../../../../../src/proxy/server.ts';
import { nodeSocket } from '../../../../../src/proxy/plain/plain-socket.ts';
import { isTls, resetSocket, type ProxySocket } from '../../../../../src/proxy/socket.ts';
import { close, listen } from '../../../../support/sockets/listen.ts';
import { watch } from '../../../../support/sockets/raw-client.ts';
import { SSL_REQUEST } from '../../../../support/sockets/packets.ts';
import { tlsFile, tlsText } from '../../../../support/values/tls-files.ts';
import { ManualClock } from '../../../../support/waiting/manual-clock.ts';
import { until } from '../../../../support/waiting/until.ts';

const TIMEOUT_MS = 5_000;

/** How the server treats a connection that has sent exactly an SSLRequest. */
type Answer = (client: Socket) => void;

let server: Server;
let port: number;
let answer: Answer;
/** The client's bytes of the newest connection in plain text, and its TLS where there is one. */
let plain: Buffer;
let carrier: Socket | undefined;
let secured: TLSSocket | undefined;
/** Inside the encryption. */
let heard: () => Buffer;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  [carrier, secured] = [undefined, undefined];
  plain = Buffer.alloc(0);
  server = createServer({ allowHalfOpen: true }, (client) => {
    carrier = client;
    plain = Buffer.alloc(0);
    client.on('error', () => {});
    client.on('data', (bytes: Buffer) => {
      plain = Buffer.concat([plain, bytes]);
      if (plain.equals(SSL_REQUEST)) answer(client);
    });
  });
  port = await listen(server);
});

afterEach(async () => {
  carrier?.destroy();
  // A connection that the dial leaves open would keep the server from closing.
  await close(server);
  expect(clock.pending()).toBe(0);
});

const says =
  (bytes: string | Buffer): Answer =>
  (client) =>
    void client.write(bytes);

/** Says yes and shakes hands. */
function speaksTls(
  cert: string,
  key: string,
  options: { readonly maxVersion?: 'TLSv1.1'; readonly ecdhCurve?: string } = {},
): Answer {
  return (client) => {
    client.removeAllListeners('data').write('S');
    const [certificate, secret] = [cert, key].map((name) => tlsText(name));
    secured = new TLSSocket(client, {
      isServer: true,
      ALPNProtocols: ['postgresql'],
      secureContext: createSecureContext({
        cert: certificate,
        key: secret,
        ...(options.ecdhCurve && { ecdhCurve: options.ecdhCurve }),
        ...(options.maxVersion === undefined
          ? {}
          : { minVersion: 'TLSv1', maxVersion: options.maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' }),
      }),
    });
    const far = watch(secured);
    heard = () => far.received();
  };
}

/** The names of the test's certificates lead to this machine. */
const toLoopback: Dial = (address, ...rest) => dialTcp({ ...address, host: '127.0.0.1' }, ...rest);

function dial(host: string, ca: string | undefined, base: Dial = toLoopback): ReturnType<typeof dialed> {
  return dialed({ host, port }, base, ca === undefined ? undefined : tlsFile(ca));
}

const WORDS = {
  server: 'the backend',
  required: 'branches.backends.tls is require',
  authorities: 'branches.backends.ca_file',
  name: 'its host name',
};

function aTrust(): ServerTrust {
  return new ServerTrust({ section: 'branches.backends', validMs: 0, clock, readPem, readKeyPair, onEvent: () => {} });
}

function dialed(address: Address, base: Dial, ca: string | undefined, trust = aTrust(), isDirect = false) {
  const results: DialResult[] = [];
  const files = { caFile: ca, crlFile: undefined, pair: undefined, minVersion: 'TLSv1.2' } as const;
  const dialTls = tlsDial(base, { checksName: true, isDirect, words: WORDS, trust: () => trust.get(files) });
  const abort = dialTls(address, { clock, timeoutMs: TIMEOUT_MS }, (result) => results.push(result));
  return { results, abort, result: () => until('a result', () => results[0]) };
}

async function connected(dialing: ReturnType<typeof dialed>): Promise<ProxySocket> {
  const result = await dialing.result();
  if (result.kind !== 'connected') throw new Error(result.detail);
  return result.socket;
}

/** The server has noticed the end of the connection. */
function isGone(): boolean {
  return [carrier, secured].some((socket) => socket?.destroyed === true || socket?.readableEnded === true);
}

test.each([
  ['pg-a.test', 'pg-a.test'],
  // As libpq does: a server name has no dot behind it.
  ['pg-a.test.', 'pg-a.test'],
  // An IP address is verified, and is no server name.
  ['127.0.0.1', false],
])('a handshake with %s: the server name is %s, and the protocol has its name', async (host, name) => {
  answer = speaksTls('server.pem', 'server.key');
  const socket = await connected(dial(host, 'ca.pem'));
  expect(isTls(socket)).toBe(true);
  await until('the handshake', () => secured?.alpnProtocol === 'postgresql');
  expect(secured?.servername).toBe(name);
  socket.write(Buffer.from('hello'));
  await until('the bytes', () => heard().toString() === 'hello');
  const back = watch(nodeSocket(socket));
  secured?.write('and back');
  await until('the answer', () => back.received().toString() === 'and back');
  // Half-close is passed on.
  secured?.end();
  await until('the end', () => back.hasEnded);
  expect(socket.writable).toBe(true);
  socket.destroy();
  await until('the close', isGone);
});

test.each([
  [false, 'the backend closed the connection after the request for TLS'],
  [true, 'the backend closed the connection during the TLS handshake'],
])(
  'a server that closes the connection while the files are read is not waited for: direct %s',
  async (isDirect, detail) => {
    server.once('connection', (client) => client.end());
    let socket: ProxySocket | undefined;
    const base: Dial = (address, limits, onResult) =>
      toLoopback(address, limits, (result) => {
        if (result.kind === 'connected') socket = result.socket;
        onResult(result);
      });
    const trust = aTrust();
    const get = trust.get.bind(trust);
    trust.get = async (files) => {
      await until('the end', () => socket?.readableEnded);
      return await get(files);
    };
    const dialing = dialed({ host: 'pg-a.test', port }, base, tlsFile('ca.pem'), trust, isDirect);
    expect(await dialing.result()).toMatchObject({ detail });
  },
);

test.each([
  // The groups of PostgreSQL before 18, and of 18.
  ['prime256v1', 'begins', 800],
  ['X25519', 'begins', 800],
  ['X25519MLKEM768', 'goes on', Infinity],
])('with a server that takes %s alone the handshake %s with a key for it', async (group, _, mostBytes) => {
  answer = speaksTls('server.pem', 'server.key', { ecdhCurve: group });
  const socket = await connected(dial('pg-a.test', 'ca.pem'));
  await until('the handshake', () => secured?.alpnProtocol === 'postgresql');
  // A second hello, or a key of ML-KEM, takes more.
  expect(carrier?.bytesRead).toBeLessThan(mostBytes);
  socket.destroy();
  await until('the close', isGone);
});

test('a reset of the encrypted socket resets the connection', async () => {
  answer = speaksTls('server.pem', 'server.key');
  const socket = await connected(dial('pg-a.test', 'ca.pem'));
  await until('the handshake', () => secured?.alpnProtocol === 'postgresql');
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  carrier?.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  secured?.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  resetSocket(socket);
  expect(await promise).toBe('ECONNRESET');
});

const untrusted = 'no trusted authority has signed the certificate of the backend (branches.backends.ca_file)';
const misnamed = 'the certificate of the backend is not for its host name';

test.each<[string, string, TlsFault, string, () => Answer, string | undefined]>([
  ['of another name', 'pg-b.test', 'wrong_name', misnamed, aServer, 'ca.pem'],
  ['of another address', '127.0.0.2', 'wrong_name', misnamed, aServer, 'ca.pem'],
  ['of another authority', 'pg-b.test', 'untrusted', untrusted, () => speaksTls('other.pem', 'other.key'), 'ca.pem'],
  ['of an authority that the system does not know', 'pg-a.test', 'untrusted', untrusted, aServer, undefined],
  [
    'that has expired',
    'pg-b.test',
    'expired',
    'the certificate of the backend, or that of its authority, has expired',
    () => speaksTls('expired.pem', 'other.key'),
    'other-ca.pem',
  ],
])('a certificate %s is refused: another attempt is of no use', async (_, host, tlsFault, detail, server, ca) => {
  answer = server();
  expect(await dial(host, ca).result()).toEqual({
    kind: 'failed',
    outcome: 'failed',
    isLocalFault: false,
    isLasting: true,
    tlsFault,
    detail,
  });
  await until('the close', isGone);
});

function aServer(): Answer {
  return speaksTls('server.pem', 'server.key');
}

const afterRequest = 'the backend closed the connection after the request for TLS';
const duringHandshake = 'the backend closed the connection during the TLS handshake';

test.each<[string, Answer, TlsFault, string]>([
  ['N', says('N'), 'no_tls', 'the backend has no TLS (branches.backends.tls is require)'],
  ['an error', says('EFATAL'), 'answer', 'the backend answered the request for TLS with an error'],
  [
    'S and more: CVE-2021-23222',
    says('SR\0\0\0\x08\0\0\0\0'),
    'answer',
    'the backend sent unencrypted data before the TLS handshake',
  ],
  ['an end', (client) => client.end(), 'closed', afterRequest],
  ['a reset', (client) => client.resetAndDestroy(), 'closed', afterRequest],
  [
    'S and a reset',
    (client) => {
      client.write('S', () => client.resetAndDestroy());
    },
    'closed',
    duringHandshake,
  ],
  ['S and an end', (client) => client.end('S'), 'closed', duringHandshake],
])('a backend that answers with %s gets nothing but the request', async (_, how, tlsFault, detail) => {
  answer = how;
  const result = await dial('pg-a.test', 'ca.pem').result();
  const isLasting = tlsFault === 'no_tls';
  expect(result).toEqual({ kind: 'failed', outcome: 'failed', isLocalFault: false, isLasting, tlsFault, detail });
  // The start of a handshake is no data of a client.
  const [first] = plain.subarray(SSL_REQUEST.length);
  expect(first === undefined || first === 0x16).toBe(true);
});

test('noise instead of a handshake', async () => {
  answer = says('S');
  const dialing = dial('pg-a.test', 'ca.pem');
  await until('the handshake', () => plain.length > SSL_REQUEST.length);
  carrier?.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  expect(await dialing.result()).toMatchObject({
    isLasting: false,
    detail: expect.stringMatching(/^the TLS handshake failed: /),
  });
});

test('a version that is too old', async () => {
  answer = speaksTls('server.pem', 'server.key', { maxVersion: 'TLSv1.1' });
  expect(await dial('pg-a.test', 'ca.pem').result()).toMatchObject({
    detail: expect.stringMatching(/^the TLS handshake failed: .*protocol version/),
  });
});

test('a rotated file of authorities counts with the next connect', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'ca.pem');
  const trust = aTrust();
  const attempt = () => {
    carrier?.destroy();
    return dialed({ host: 'pg-a.test', port }, toLoopback, file, trust);
  };
  answer = aServer();
  expect(await attempt().result()).toMatchObject({
    isLasting: true,
    detail: 'branches.backends.ca_file cannot be read: there is no such file',
  });
  await copyFile(tlsFile('other-ca.pem'), file);
  expect(await attempt().result()).toMatchObject({ detail: untrusted });
  await copyFile(tlsFile('ca.pem'), file);
  (await connected(attempt())).destroy();
  await writeFile(file, 'no longer a certificate');
  (await connected(attempt())).destroy();
});

test.each<[string, Answer]>([
  ['a silent server', () => {}],
  ['a server that is silent in the handshake', says('S')],
])('%s: one deadline for all of it', async (_, how) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  answer = (client) => {
    how(client);
    resolve();
  };
  const { results } = dial('pg-a.test', 'ca.pem');
  await promise;
  await clock.advance(TIMEOUT_MS - 1);
  expect(results).toEqual([]);
  await clock.advance(1);
  const detail = `no TLS within ${TIMEOUT_MS} ms`;
  const failure = { outcome: 'timeout', isLocalFault: false, isLasting: false, tlsFault: 'timeout' };
  expect(results).toEqual([{ kind: 'failed', ...failure, detail }]);
});

test.each<[string, Answer, () => boolean]>([
  ['before the answer', () => {}, () => plain.equals(SSL_REQUEST)],
  ['during the handshake', says('S'), () => plain.length > SSL_REQUEST.length],
])('an abort %s closes the connection and reports nothing', async (_, how, isThere) => {
  answer = how;
  const { results, abort } = dial('pg-a.test', 'ca.pem');
  await until('the moment', isThere);
  abort();
  abort();
  await until('the close', isGone);
  expect(results).toEqual([]);
});

test('an abort after the result changes nothing', async () => {
  answer = aServer();
  const dialing = dial('pg-a.test', 'ca.pem');
  const socket = await connected(dialing);
  dialing.abort();
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

test('a refused connection is reported as the TCP dial reports it', async () => {
  const refused: DialResult = { kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' };
  const refusing: Dial = (_, __, onResult) => {
    onResult(refused);
    return () => {};
  };
  expect(await dial('pg-a.test', 'ca.pem', refusing).result()).toEqual(refused);
});
