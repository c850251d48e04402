// G18: no byte crosses the boundary of TLS. Bytes sent before the handshake are never read as if they were inside it.
// After the agreement on TLS no byte leaves in plain text (CVE-2021-23214, CVE-2021-23222).
import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { close, listen } from '../../../support/sockets/listen.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { over } from '../../../support/sockets/tls-client.ts';
import { SERVER } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;

beforeEach(async () => {
  backend = await startFakeBackend('echo');
  lab = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } } },
    client: { tls: { mode: 'terminate', ...SERVER } },
  });
});

afterEach(() => lab.end(backend));

function at() {
  return lab.address('write');
}

const UNASKED = Buffer.concat([SSL_REQUEST, aStartup({ user: 'mallory', database: 'shop' })]);
const CUTS = Array.from({ length: UNASKED.length + 1 }, (_, index) => index);

/** Sends `first`, and `rest` once `first` is on its way. */
async function sendInTwo(socket: Socket, first: Uint8Array, rest: Uint8Array): Promise<void> {
  socket.setNoDelay();
  if (first.length > 0) socket.write(first);
  await until('the first part', () => socket.writableLength === 0);
  if (rest.length > 0) socket.write(rest);
}

test.each(CUTS)('scenario 32: a startup message in plain text after the request, cut at %i: refused', async (cut) => {
  const client = await connectRaw(at());
  await sendInTwo(client.socket, UNASKED.subarray(0, cut), UNASKED.subarray(cut));
  await until('an answer', () => client.received().length > 0);
  // Cut after the request, the rest may also arrive after the answer, where it is no handshake.
  const isInTime = client.received()[0] === 0x45;
  expect(isInTime || cut === SSL_REQUEST.length).toBe(true);
  if (isInTime) expect(errorFields(client.received())).toMatchObject({ C: '08P01' });
  else expect(client.received()[0]).toBe(0x53);
  client.socket.end();
  await until('the end', () => lab.reasons().length === 1);
  expect(lab.closed()[0]).toMatchObject(
    isInTime ? { reason: 'not_postgres' } : { reason: 'tls_failed', detail: 'wrong version number' },
  );
  expect(lab.closed()[0]).not.toHaveProperty('user');
  expect(backend.connections).toHaveLength(0);
});

test.each(CUTS.filter((cut) => cut <= 16))('scenario 32: both requests in one, cut at %i: refused', async (cut) => {
  const client = await connectRaw(at());
  const both = Buffer.concat([GSSENC_REQUEST, SSL_REQUEST]);
  await sendInTwo(client.socket, both.subarray(0, cut), both.subarray(cut));
  await until('an answer', () => client.received().length > 0);
  const isInTime = client.received()[0] === 0x45;
  expect(isInTime || cut === GSSENC_REQUEST.length).toBe(true);
  if (!isInTime) await until('S', () => client.received().toString() === 'NS');
  client.socket.end();
  await until('the end', () => lab.reasons().length === 1);
  expect(lab.closed()[0]?.reason).toBe(isInTime ? 'not_postgres' : 'tls_failed');
});

/**
 * A process in the middle that passes the client's bytes through `change`, chunk by chunk, and the answers unchanged.
 */
async function startGoBetween(change: (chunk: Buffer, to: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connectTcp({ ...at() });
    sockets.push(near, far);
    near.setNoDelay();
    far.setNoDelay();
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('data', (chunk: Buffer) => change(chunk, far));
    far.pipe(near);
  });
  const port = await listen(server);
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await close(server);
  };
  return { address: { host: '127.0.0.1', port }, stop };
}

test('G18: bytes injected before the handshake reach neither side', async () => {
  let chunks = 0;
  const middle = await startGoBetween((chunk, to) => {
    chunks += 1;
    to.write(chunks === 2 ? Buffer.concat([aStartup({ user: 'mallory' }), chunk]) : chunk);
  });
  const carrier = await connectRaw(middle.address);
  carrier.socket.write(SSL_REQUEST);
  await until('S', () => carrier.received().toString() === 'S');
  const client = over(carrier);
  await until('the end', () => lab.reasons().length === 1);
  expect(lab.closed()[0]).toMatchObject({ reason: 'tls_failed', detail: 'wrong version number' });
  expect(client.received()).toHaveLength(0);
  expect(backend.connections).toHaveLength(0);
  await middle.stop();
});

test.each([1, 2, 3, 5, 7, 8, 9, 64])('a handshake and the next bytes work in pieces of %i bytes', async (size) => {
  const middle = await startGoBetween((chunk, to) => {
    for (let from = 0; from < chunk.length; from += size) to.write(chunk.subarray(from, from + size));
  });
  for (const isDirect of [false, true]) {
    const carrier = await connectRaw(middle.address);
    if (!isDirect) carrier.socket.write(SSL_REQUEST);
    await until('S', () => isDirect || carrier.received().toString() === 'S');
    const client = over(carrier, isDirect ? { ALPNProtocols: ['postgresql'] } : {});
    await once(client.socket, 'secureConnect');
    client.socket.write(aStartup());
    await until('the echo', () => client.received().equals(aStartup()));
    client.socket.destroy();
  }
  await middle.stop();
});

test('the startup message in the flight that ends the handshake is read once, after it', async () => {
  // Written before the handshake is over, so that it leaves together with the client's last message.
  const carrier = await connectRaw(at());
  carrier.socket.write(SSL_REQUEST);
  await until('S', () => carrier.received().toString() === 'S');
  const client = over(carrier);
  client.socket.write(Buffer.concat([aStartup(), Buffer.from('and more')]));
  const whole = Buffer.concat([aStartup(), Buffer.from('and more')]);
  await until('the echo', () => client.received().equals(whole));
  expect(backend.last().received().equals(whole)).toBe(true);
});

test('G18: after S no byte leaves in plain text, for any end of the client', async () => {
  const client = await connectRaw(at());
  client.socket.write(SSL_REQUEST);
  await until('S', () => client.received().toString() === 'S');
  client.socket.write(aStartup());
  await until('the end', () => client.hasEnded || client.isClosed);
  // At most an alert, which is a record of TLS.
  const rest = client.received().subarray(1);
  if (rest.length > 0) expect(rest[0]).toBe(0x15);
  expect(lab.reasons()).toEqual(['tls_failed']);
});
