import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resetSocket } from '../../../src/proxy/socket.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { until } from '../../support/waiting/until.ts';

let server: ReturnType<typeof createServer>;
let near: Socket;
let far: Socket;
let farError: string | undefined;
let isFarClosed: boolean;

beforeEach(async () => {
  farError = undefined;
  isFarClosed = false;
  server = createServer({ allowHalfOpen: true }, (socket) => {
    far = socket;
    socket.on('error', (error: NodeJS.ErrnoException) => (farError = error.code));
    socket.on('close', () => (isFarClosed = true));
  });
  const port = await listen(server);
  near = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await Promise.all([once(near, 'connect'), once(server, 'connection')]);
});

afterEach(async () => {
  far.destroy();
  near.destroy();
  await close(server);
});

test('an open connection is reset', async () => {
  far.resume();
  resetSocket(near);
  await until('the reset', () => isFarClosed && near.closed);
  expect(farError).toBe('ECONNRESET');
});

test('a half-closed connection is reset', async () => {
  far.resume();
  near.end();
  await once(near, 'finish');
  resetSocket(near);
  await until('the close', () => near.closed);
  // After the half-close only a write shows a reset.
  far.write('anybody there?');
  await until('the reset', () => isFarClosed);
  expect(farError).toBe('EPIPE');
});

test('a connection whose half-close is still on its way is ended without a leak', async () => {
  far.resume();
  near.end();
  resetSocket(near);
  await until('the end', () => near.closed);
  expect(near.errored).toBeNull();
  far.end();
  await until('the other end', () => isFarClosed);
});

test('unsent bytes are dropped', async () => {
  near.write(Buffer.alloc(16 * 1024 * 1024));
  near.end();
  resetSocket(near);
  let received = 0;
  far.on('data', (chunk: Buffer) => (received += chunk.length));
  // libuv reports a reset that arrives after unread data as an ordinary end.
  far.on('end', () => far.end());
  await until('the reset', () => isFarClosed && near.closed);
  expect(received).toBeLessThan(16 * 1024 * 1024);
});

test('a second call does nothing', () => {
  resetSocket(near);
  expect(() => resetSocket(near)).not.toThrow();
});
