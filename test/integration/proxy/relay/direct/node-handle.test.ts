import { once } from 'node:events';
import { Socket, connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NodeHandle } from '../../../../../src/proxy/relay/direct/node-handle.ts';
import { close, listen } from '../../../../support/sockets/listen.ts';

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

test('a socket that is not connected has no relay pipe', () => {
  expect(NodeHandle.of(new Socket())).toBeUndefined();
});
