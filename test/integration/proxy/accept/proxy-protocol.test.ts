// A load balancer in front names its clients (PROXY protocol).
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend, type FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { findExecutable } from '../../../support/patroni/availability.ts';
import { itUnless } from '../../../support/runner/unless-missing.ts';
import { findFreePorts } from '../../../support/sockets/free-ports.ts';
import { startProxyLab, type ProxyLab, type ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { aCancelRequest, aProxyHeader, aStartup, errorFields, SSL_REQUEST } from '../../../support/sockets/packets.ts';
import { watch, type RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clients: RawClient[] = [];

beforeEach(async () => {
  backend = await startFakeBackend('echo');
  clients = [];
});

afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  await lab.end(backend);
});

async function start(options: ProxyLabOptions = {}): Promise<void> {
  const proxyNetworks = ['127.0.0.0/28'];
  lab = await startProxyLab({ proxyNetworks, table: { write: { open: { 'pg-1': backend.address } } }, ...options });
}

/** The balancer is at 127.0.0.1, everybody else at another address. */
async function sends(bytes: Uint8Array | string, localAddress = '127.0.0.1'): Promise<RawClient> {
  const client = await dial(lab.address('write').port, localAddress);
  client.socket.write(bytes);
  return client;
}

async function dial(port: number, localAddress: string): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, localAddress, allowHalfOpen: true });
  const client = watch(socket);
  clients.push(client);
  await once(socket, 'connect');
  return client;
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const HEADER = 'PROXY TCP4 192.0.2.7 198.51.100.1 56324 5432\r\n';
const behind = (header: Uint8Array | string, ...packets: readonly Uint8Array[]): Buffer =>
  Buffer.concat([Buffer.from(header), ...packets]);
const sessions = async () => (await lab.proxy.sessions({ limit: 10 })).sessions;
const relaying = () => lab.proxy.counts().get('write')?.states.relaying;
/** The error, if its first packet can have one as its answer. The client leaves then. */
async function refused(client: RawClient): Promise<Readonly<Record<string, string>> | undefined> {
  await once(client.socket, 'end');
  client.socket.end();
  await until('its end', () => lab.closed().length === 1);
  return errorFields(client.received());
}

test.each([
  ['version 1', HEADER, '192.0.2.7:56324'],
  ['version 1 of IPv6', 'PROXY TCP6 2001:db8::5 ::1 56324 5432\r\n', '[2001:db8::5]:56324'],
  [
    'version 2',
    aProxyHeader(0x21, 0x11, Buffer.from([192, 0, 2, 7, 198, 51, 100, 1, 0xdc, 0x04, 0x15, 0x38])),
    '192.0.2.7:56324',
  ],
])('%s: the address is that of the client, and the backend gets its packet alone', async (_, header, client) => {
  await start();
  const startup = aStartup({ user: 'app' });
  const { socket } = await sends(behind(header, startup));
  await until('a session', () => relaying() === 1);
  await until('its packet', () => backend.connections[0]?.received().equals(startup));
  const via = `127.0.0.1:${socket.localPort}`;
  expect(await sessions()).toMatchObject([{ client, via }]);
  expect(lab.events.filter(({ kind }) => kind === 'client_accepted')).toEqual([
    { kind: 'client_accepted', pool: 'write', session: 1, client, via },
  ]);
  socket.destroy();
  await until('its end', () => lab.closed().length === 1);
  expect(lab.closed()).toMatchObject([{ client, via }]);
});

test('byte by byte, and with the startup packet behind it', async () => {
  await start();
  const { socket } = await sends('');
  for (const byte of behind(HEADER, aStartup())) {
    socket.write(Uint8Array.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until('a session', () => relaying() === 1);
  expect(await sessions()).toMatchObject([{ client: '192.0.2.7:56324' }]);
});

test.each(['PROXY UNKNOWN\r\n', aProxyHeader(0x20, 0)])('it may speak for itself', async (header) => {
  await start();
  const { socket } = await sends(behind(header, aStartup()));
  await until('a session', () => relaying() === 1);
  expect(await sessions()).toMatchObject([{ client: `127.0.0.1:${socket.localPort}`, via: undefined }]);
});

test('its check, which connects and leaves, is no error', async () => {
  await start();
  const { socket } = await sends('');
  socket.end();
  await until('its end', () => lab.closed().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'no_startup' }]);
});

test.each([
  ['no header', aStartup(), 'no header of the PROXY protocol, which its address must send'],
  ['no header before SSLRequest', behind(SSL_REQUEST, aStartup()), 'no header'],
  ['no header before a cancel request', aCancelRequest(), 'no header'],
  ['two headers', behind(HEADER, Buffer.from(HEADER), aStartup()), 'may not send'],
  ['a broken header', 'PROXY TCP4 1.2.3.999 1.1.1.1 1 2\r\n', 'broken PROXY protocol header'],
])('refused from the balancer: %s', async (_, bytes, detail) => {
  await start();
  await refused(await sends(bytes));
  expect(lab.closed()).toMatchObject([{ reason: 'not_postgres', detail: expect.stringContaining(detail) }]);
  expect(backend.connections).toHaveLength(0);
});

test('from other addresses the header is refused, and a plain client is served', async () => {
  await start();
  const forger = await sends(behind(HEADER, aStartup()), '127.0.0.100');
  expect(await refused(forger)).toMatchObject({ C: '08P01' });
  expect(lab.closed()).toMatchObject([{ reason: 'not_postgres', client: expect.stringContaining('127.0.0.100') }]);
  await sends(aStartup(), '127.0.0.100');
  await until('a session', () => relaying() === 1);
});

test('without the setting a header is refused', async () => {
  await start({ proxyNetworks: [] });
  expect(await refused(await sends(behind(HEADER, aStartup())))).toMatchObject({ C: '08P01' });
  expect(lab.closed()).toMatchObject([{ reason: 'not_postgres' }]);
});

test('the limit per address counts clients, and not their balancer', async () => {
  await start({ client: { maxSessionsPerAddress: 1 } });
  const first = await sends(behind(HEADER, aStartup()));
  await until('a session', () => relaying() === 1);
  const second = await sends(behind(HEADER.replace('56324', '56325'), aStartup()));
  expect(await refused(second)).toMatchObject({
    C: '53300',
    D: 'the limit of 1 sessions from 192.0.2.7 is reached',
  });
  await sends(behind(HEADER.replace('192.0.2.7', '192.0.2.8'), aStartup()));
  await until('the other session', () => relaying() === 2);
  await sends(aStartup(), '127.0.0.100');
  await until('a session without a balancer', () => relaying() === 3);
  first.socket.destroy();
  await until('its end', () => relaying() === 2);
  await sends(behind(HEADER, aStartup()));
  await until('the next session', () => relaying() === 3);
  const { byAddress } = lab.proxy.tally();
  expect(byAddress.get('127.0.0.1') ?? 0).toBe(0);
});

test.runIf(hasIpv6)('a listener for both IP versions knows the balancer, and counts an address once', async () => {
  await start({ host: '::ffff:127.0.0.1', client: { maxSessionsPerAddress: 1 } });
  await sends(behind('PROXY TCP4 127.0.0.100 127.0.0.1 56324 5432\r\n', aStartup()));
  await until('a session', () => relaying() === 1);
  expect(await refused(await sends(aStartup(), '127.0.0.100'))).toMatchObject({
    C: '53300',
    D: 'the limit of 1 sessions from 127.0.0.100 is reached',
  });
});

test('a client over its limit that sends nothing more takes no place from others', async () => {
  const descriptors = { limit: 256, sessions: 9, overLimit: 1 };
  await start({ client: { maxSessionsPerAddress: 1 }, descriptors });
  await sends(behind(HEADER, aStartup()));
  await until('a session', () => relaying() === 1);
  await sends(HEADER);
  await until('its header', () => lab.events.filter(({ kind }) => kind === 'client_accepted').length === 2);
  const cutOff = await sends(behind(HEADER, aCancelRequest()));
  expect(await refused(cutOff)).toMatchObject({ C: '53300' });
  expect(lab.closed()).toMatchObject([{ reason: 'too_many_sessions', client: '192.0.2.7:56324' }]);
  expect(lab.proxy.tally().sessions).toBe(1);
});

test('a reload changes the balancers of a listener that stays', async () => {
  await start();
  await lab.reload({});
  await sends(aStartup());
  await until('a session', () => relaying() === 1);
});

const haproxy = findExecutable('haproxy') ?? findExecutable('../sbin/haproxy');
const SENDS = ['send-proxy', 'send-proxy-v2', 'send-proxy-v2 proxy-v2-options crc32c,unique-id'];

/** HAProxy with one port for each way to send the header. */
async function startHaproxy(program: string): Promise<AsyncDisposable & { readonly ports: readonly number[] }> {
  const ports = await findFreePorts(SENDS.length, ['127.0.0.1']);
  const { host, port } = lab.address('write');
  const listeners = SENDS.map(
    (sends, at) => `listen l${at}\n bind 127.0.0.1:${ports[at]}\n server pointsman ${host}:${port} ${sends}\n`,
  );
  const timeouts = ['client', 'server', 'connect'].map((name) => ` timeout ${name} 1m\n`);
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-haproxy-'));
  const file = join(directory, 'haproxy.cfg');
  await writeFile(file, `defaults\n mode tcp\n unique-id-format %ID\n${timeouts.join('')}${listeners.join('')}`);
  const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    ports,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

itUnless(
  haproxy === undefined ? 'haproxy: apt-get install haproxy' : undefined,
  'behind HAProxy the addresses are those of its clients, in every form of the header',
  async () => {
    await start();
    await using balancer = await startHaproxy(haproxy ?? '');
    for (const [at, port] of balancer.ports.entries()) {
      const client = await waitUntil('HAProxy', () => dial(port, `127.0.0.${20 + at}`), { timeoutMs: 15_000 });
      client.socket.write(aStartup({ user: 'app' }));
      await until('a session', () => relaying() === at + 1);
      expect((await sessions()).at(-1)?.client).toBe(`127.0.0.${20 + at}:${client.socket.localPort}`);
    }
  },
);
