// The relay of a client whose TLS ends at the proxy: every byte once, half-close, back-pressure and resets as without
// TLS.
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { connectHeldBack, connectTls } from '../../../support/sockets/tls-client.ts';
import type { TlsClient } from '../../../support/sockets/tls-client.ts';
import { SERVER } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;

beforeEach(async () => {
  backend = await startFakeBackend('echo');
});

afterEach(async () => {
  lab.proxy.close();
  await until('no session left', () => lab.proxy.counts().get('read')?.closed !== undefined);
  await backend.stop();
});

async function start(behaviour: FakeBackend['behaviour'] = 'echo'): Promise<TlsClient> {
  backend.behaviour = behaviour;
  lab = await startProxyLab({
    pools: [aWritePool(), aPool()],
    table: { read: { open: { 'pg-2': backend.address } } },
    client: { tls: { mode: 'terminate', ...SERVER } },
  });
  const client = await connectTls(lab.address('read'));
  client.socket.write(aStartup());
  await until(
    'the startup',
    () => behaviour === 'stalled' || backend.connections.at(-1)?.received().equals(aStartup()),
  );
  if (behaviour === 'echo') await until('its echo', () => client.received().equals(aStartup()));
  return client;
}

/** A pattern that shows lost, doubled or moved bytes. */
function aPattern(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32BE(at, at);
  return bytes;
}

test('G7: eight megabytes each way at once arrive unchanged', async () => {
  const client = await start();
  const bytes = aPattern(8 * 1024 * 1024);
  client.socket.write(bytes);
  const whole = aStartup().length + bytes.length;
  await until('every byte', () => client.socket.bytesRead >= whole && client.received().length === whole, 30_000);
  expect(client.received().subarray(aStartup().length).equals(bytes)).toBe(true);
  expect(lab.proxy.counts().get('read')).toMatchObject({ toBackendBytes: whole, toClientBytes: whole });
}, 40_000);

test('no record is longer than 8 kB, as at PostgreSQL', async () => {
  await start();
  const client = await connectHeldBack(lab.address('read'));
  const bytes = Buffer.concat([aStartup(), aPattern(300_000)]);
  client.socket.write(bytes);
  await until('the encryption', () => client.socket.writableLength === 0);
  client.release();
  await until('the echo', () => client.received().length === bytes.length);
  const lengths: number[] = [];
  // Behind the answer to SSLRequest: type, version, length.
  const stream = client.carrier.received().subarray(1);
  for (let at = 0; at < stream.length; at += 5 + (lengths.at(-1) ?? 0)) lengths.push(stream.readUInt16BE(at + 3));
  // The encryption adds the type, the tag and some padding.
  expect(Math.max(...lengths)).toBeLessThanOrEqual(8_192 + 64);
  expect(Math.max(...lengths)).toBeGreaterThan(8_192);
  client.socket.destroy();
});

test('scenario 36: half-close of the client with 300 kB in flight: every byte comes back, and the end', async () => {
  const client = await start();
  const bytes = aPattern(300_000);
  client.socket.end(bytes);
  await until('the end', () => client.hasEnded);
  expect(client.received().subarray(aStartup().length).equals(bytes)).toBe(true);
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['client_closed']);
});

test('scenario 36: half-close of the server with 300 kB in flight: all arrives, and the client can send', async () => {
  const client = await start('silent');
  const bytes = aPattern(300_000);
  backend.last().socket.end(bytes);
  await until('every byte', () => client.received().length === bytes.length);
  expect(client.received().equals(bytes)).toBe(true);
  await until('the end', () => client.hasEnded);
  client.socket.end('still here');
  await until('its last words', () => backend.last().received().toString().endsWith('still here'));
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['backend_closed']);
});

/** The server has taken the client in: a reset before is no end of a session. */
async function startRelaying(): Promise<TlsClient> {
  const client = await start('silent');
  backend.last().socket.write('x');
  await until('the first reply', () => client.received().toString() === 'x');
  return client;
}

test('scenario 36: a reset of the client reaches the backend', async () => {
  const client = await startRelaying();
  client.carrier.socket.resetAndDestroy();
  await until('the reset', () => backend.last().isClosed);
  expect(backend.last().wasReset).toBe(true);
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['client_reset']);
});

test('scenario 36: a reset of the backend ends the client', async () => {
  const client = await startRelaying();
  backend.last().socket.resetAndDestroy();
  await until('the end', () => client.hasEnded || client.isClosed);
  client.socket.destroy();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['backend_reset']);
});

test('scenario 37: a client that does not read stops the backend', async () => {
  const client = await start('silent');
  client.socket.pause();
  client.carrier.socket.pause();
  const chunk = Buffer.alloc(64 * 1024);
  let sent = 0;
  const { socket } = backend.last();
  let isFull = false;
  for (let turn = 0; turn < 4_000 && !isFull; turn += 1) {
    sent += chunk.length;
    isFull = !socket.write(chunk) && (await isStuck(socket));
  }
  expect(isFull).toBe(true);
  // The kernel's buffers hold this much on the way, and our heap holds none of it.
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  client.socket.resume();
  await until('every byte', () => client.received().length === sent, 30_000);
}, 60_000);

/** No queued byte has moved in many turns. */
async function isStuck(socket: Socket): Promise<boolean> {
  for (let turn = 0, before = socket.writableLength; turn < 2_000; turn += 1) {
    if (socket.writableLength < before) return false;
    await until('a turn', () => true);
    await new Promise((resolve) => setImmediate(resolve));
    before = socket.writableLength;
  }
  return socket.writableLength > 0;
}

test('a backend that does not read stops the client', async () => {
  const client = await start('stalled');
  const chunk = Buffer.alloc(64 * 1024);
  let sent = 0;
  let isFull = false;
  for (let turn = 0; turn < 4_000 && !isFull; turn += 1) {
    sent += chunk.length;
    isFull = !client.socket.write(chunk) && (await isStuck(client.socket));
  }
  expect(isFull).toBe(true);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
}, 60_000);
