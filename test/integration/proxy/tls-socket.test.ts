// The fast ends of a TLS socket: a reset, or an end with TLS's own close message.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TLSSocket } from 'node:tls';
import { closeSocket, ignoreErrors, resetSocket } from '../../../src/proxy/socket.ts';
import { shakeHands, tlsContext } from '../../../src/proxy/startup/tls-handshake.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { over } from '../../support/sockets/tls-client.ts';
import type { TlsClient } from '../../support/sockets/tls-client.ts';
import { tlsText } from '../../support/values/tls-files.ts';
import { until } from '../../support/waiting/until.ts';

const context = tlsContext({ cert: tlsText('server.pem'), key: tlsText('server.key'), expiresAt: 0 });

let server: Server;
let near: TLSSocket;
let carrier: Socket;
let far: TlsClient;
let heardBytes: number;

const how = {
  context,
  begun: undefined,
  readFew: () => false,
  onBegun: (socket: TLSSocket) => void (near = socket),
};

beforeEach(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    carrier = client;
    ignoreErrors(client);
    shakeHands({ client, ...how, onSecure: resolve, onFailed: () => {} });
  });
  const raw = await connectRaw({ host: '127.0.0.1', port: await listen(server) });
  heardBytes = 0;
  far = over(raw, { socket: counted(raw.socket) });
  await Promise.all([promise, once(far.socket, 'secureConnect')]);
});

afterEach(async () => {
  far.carrier.socket.destroy();
  // A leaked handle would keep the server from closing.
  await close(server);
});

/** The same connection; its incoming bytes are counted before TLS consumes them. */
function counted(socket: Socket): Duplex {
  const wire = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
  });
  socket.on('data', (chunk: Buffer) => {
    heardBytes += chunk.length;
    wire.push(chunk);
  });
  socket.on('end', () => wire.push(null));
  socket.on('error', (error) => wire.destroy(error));
  return wire;
}

const MUCH = Buffer.alloc(20 * 1024 * 1024);

test.each<[string, () => void]>([
  ['idle', () => {}],
  ['with more to write than fits', () => near.write(MUCH)],
  ['that is ending', () => near.end()],
  ['that is ending with much to write', () => near.end(MUCH)],
  ['that has heard the end', () => far.socket.end()],
])('reset: one %s', async (_, first) => {
  first();
  resetSocket(near);
  expect(() => resetSocket(near)).not.toThrow();
  await until('the end of both', () => near.closed && carrier.closed);
  await until('the end at the peer', () => far.isClosed || far.hasEnded);
});

test('a reset arrives at the peer as a reset', async () => {
  resetSocket(near);
  await until('the reset', () => far.wasReset);
});

test('closed, it sends the end in TLS', async () => {
  near.write('last words');
  await until('that they are on their way', () => near.writableLength === 0);
  await until('them', () => far.received().toString() === 'last words');
  const before = heardBytes;
  closeSocket(near);
  await until('the end', () => far.hasEnded);
  expect(far.wasReset).toBe(false);
  // A record of TLS 1.3 that holds an alert: header, level and description, type, tag (RFC 8446, 5.2 and 6.1).
  expect(heardBytes - before).toBe(5 + 2 + 1 + 16);
  await until('the end of both', () => near.closed && carrier.closed);
});

test('closed with more bytes to write than fit, it does not wait', async () => {
  far.socket.pause();
  near.write(MUCH);
  closeSocket(near);
  await until('the end of both', () => near.closed && carrier.closed);
});
