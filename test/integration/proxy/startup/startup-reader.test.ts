// The bytes that are read of a waiting client, on a real socket: limited for any input.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { SOCKET_OPTIONS } from '../../../../src/proxy/socket.ts';
import { StartupReader, BufferedBytes } from '../../../../src/proxy/startup/startup-reader.ts';
import { close, listen } from '../../../support/sockets/listen.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

const KB = 1024;

test('G11: a client that sends without end while it waits: 80 kB are read, and 16 kB of these are kept', async () => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(SOCKET_OPTIONS, accepted.resolve);
  const client = await connectRaw({ host: '127.0.0.1', port: await listen(server) });
  const socket = await accepted.promise;
  const kept = new BufferedBytes();
  const intake = new StartupReader(socket, kept, { onPacket: () => {}, onEnd: () => {}, onClosed: () => {} });
  intake.start();
  client.socket.write(aStartup());
  await until('the packet', () => intake.length() === aStartup().length);
  const flood = Buffer.alloc(64 * KB * KB, 7);
  client.socket.write(flood);
  await until('the bound', () => intake.length() >= 16 * KB);
  // The kernel's buffers are full, so the proxy has read all it reads.
  let seen = -1;
  await until('standstill', () => {
    const isSame = client.socket.bytesWritten - client.socket.writableLength === seen;
    seen = client.socket.bytesWritten - client.socket.writableLength;
    return isSame && socket.bytesRead >= 16 * KB;
  });
  expect(intake.length()).toBe(16 * KB);
  expect(socket.bytesRead).toBeLessThanOrEqual(80 * KB);
  const parts: Buffer[] = [Buffer.from(intake.bytes())];
  let length = intake.length();
  intake.release();
  socket.on('data', (chunk: Buffer) => {
    parts.push(chunk);
    length += chunk.length;
  });
  socket.resume();
  const whole = aStartup().length + flood.length;
  await until('all of it', () => length === whole);
  expect(Buffer.concat(parts).equals(Buffer.concat([aStartup(), flood])), 'in order, once').toBe(true);
  socket.destroy();
  client.socket.destroy();
  await close(server);
});
