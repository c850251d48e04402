import { once } from 'node:events';
import { Socket, connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NodeHandle, readOnce } from '../../../../../src/proxy/relay/direct/node-handle.ts';
import { close, listen } from '../../../../support/sockets/listen.ts';
import { until } from '../../../../support/waiting/until.ts';

test('a write on a closed socket does nothing: its end was reported already', async () => {
  const server = createServer((socket) => socket.resume());
  const socket = connect({ host: '127.0.0.1', port: await listen(server) });
  await once(socket, 'connect');
  const direct = NodeHandle.of(socket);
  socket.destroy();
  await once(socket, 'close');
  await nextTurn();
  expect(direct?.write(Buffer.from('too late'))).toBe(true);
  await close(server);
});

test('a socket that is not connected has no relay pipe, and is not read', () => {
  expect(NodeHandle.of(new Socket())).toBeUndefined();
  expect(readOnce(new Socket(), new Uint8Array(1), () => {})).toBe(false);
});

test('one read takes no more than the buffer has room for, and leaves the rest', async () => {
  const sent = Buffer.alloc(3000, 'abcdefg');
  const server = createServer((socket) => socket.on('error', () => {}).write(sent));
  const socket = connect({ host: '127.0.0.1', port: await listen(server) });
  await once(socket, 'connect');
  const read: Buffer[] = [];
  expect(readOnce(socket, new Uint8Array(1000), (bytes) => read.push(Buffer.from(bytes)))).toBe(true);
  await until('the first bytes', () => read.length > 0);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(read).toEqual([sent.subarray(0, 1000)]);
  expect(socket.bytesRead).toBe(1000);
  socket.destroy();
  await close(server);
});

test('an end instead of bytes is reported by the socket itself', async () => {
  const server = createServer((socket) => socket.end());
  const socket = connect({ host: '127.0.0.1', port: await listen(server), allowHalfOpen: true });
  await once(socket, 'connect');
  const ended = once(socket, 'end');
  readOnce(socket, new Uint8Array(1000), () => expect.unreachable());
  await ended;
  socket.destroy();
  await close(server);
});
