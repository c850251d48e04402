// The console's port under strangers: limits on numbers, sizes and time.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { NO_TOKEN, startConsole, TOKEN } from '../../support/labs/console-lab.ts';
import { connectRaw, watch } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { aMessage, aNumber } from '../../support/sockets/messages.ts';
import {
  GSSENC_REQUEST,
  SSL_REQUEST,
  aCancelRequest,
  aPacket,
  aStartup,
  errorFields,
} from '../../support/sockets/packets.ts';
import { until } from '../../support/waiting/until.ts';
import type { Address } from '../../../src/model/member.ts';

const STARTUP = aStartup({ user: 'x', database: 'pointsman' });
const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));

async function sent(address: Address, ...bytes: readonly Uint8Array[]): Promise<RawClient> {
  const client = await connectRaw(address);
  client.socket.write(Buffer.concat(bytes));
  return client;
}

/** Everything that a client received after it sent this, once the console has closed. */
async function last(address: Address, ...bytes: readonly Uint8Array[]): Promise<Buffer> {
  const client = await sent(address, ...bytes);
  await until('the end', () => isOver(client));
  client.socket.destroy();
  return client.received();
}

const isOver = ({ hasEnded, isClosed }: RawClient): boolean => hasEnded || isClosed;

async function works(address: Address): Promise<void> {
  const client = new Client({ ...address, user: 'x', database: 'pointsman', password: TOKEN });
  await client.connect();
  expect((await client.query('show version')).rows).toHaveLength(1);
  await client.end();
}

test.each([
  ['HTTP', [Buffer.from('GET /status HTTP/1.1\r\n\r\n')], /^HTTP\/1\.1 400 .*psql -h HOST -p PORT pointsman/s],
  ['a cancel request', [aCancelRequest()], /^$/],
  ['TLS without a request', [Buffer.from([0x16, 3, 1, 0, 5])], /^[^E].....\S$/s],
  ['requests for encryption, again and again', [SSL_REQUEST, SSL_REQUEST, GSSENC_REQUEST], /^NNNE.*08P01/s],
  ['protocol 2', [aPacket(0x00020000)], /^E.*0A000/s],
  ['noise', [Buffer.alloc(8, 0xee)], /^E.*08P01/s],
  ['a startup packet of a gigabyte', [aNumber(2 ** 30)], /^E.*08P01/s],
  ['a password message of a gigabyte', [STARTUP, Buffer.from('p'), aNumber(2 ** 30)], /E.*08P01/s],
  ['another mechanism', [STARTUP, aMessage('p', Buffer.from('PLAIN\0\0\0\0\0'))], /E.*28000/s],
  ['a query before the login', [STARTUP, query('show pools')], /E.*28000/s],
])('%s', async (_name, bytes, expected) => {
  const address = await startConsole();
  expect((await last(address, ...bytes)).toString('latin1')).toMatch(expected);
  await works(address);
});

test('encryption is declined once each, then the login goes on in plain text', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const received = await last(address, GSSENC_REQUEST, SSL_REQUEST, STARTUP, query('show version'), aMessage('X'));
  expect(received.toString('latin1')).toMatch(/^NNR.*Pointsman 1\.2\.3/s);
});

test('options of a newer protocol are declined by name', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const startup = aStartup({ user: 'x', database: 'pointsman', '_pq_.new': '1' });
  expect((await last(address, startup, aMessage('X'))).toString('latin1')).toMatch(/^v.*_pq_\.new/s);
});

test('without a token other hosts are refused', async () => {
  const address = await startConsole({ token: NO_TOKEN, address: { host: '0.0.0.0', port: 0 } });
  const { networkInterfaces } = await import('node:os');
  const own = Object.values(networkInterfaces()).flat();
  const outer = own.find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  await works({ host: '127.0.0.1', port: address.port });
  if (outer === undefined) return;
  expect(errorFields(await last({ host: outer, port: address.port }, STARTUP))).toMatchObject({
    C: '28000',
    H: 'Set admin.token_file (POINTSMAN_ADMIN_TOKEN_FILE) and give the token as the password.',
  });
});

test('a statement that is too long ends the session with a reason', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const received = await last(address, STARTUP, query('x'.repeat(20_000)));
  expect(received.toString('latin1')).toContain('a message of 20001 bytes exceeds the limit of 16384');
});

test('statements in one query are limited', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const received = await last(address, STARTUP, query('show pools;'.repeat(33)), aMessage('X'));
  expect(received.toString('latin1')).toMatch(/54000.*more than 32 statements/s);
});

test('silent connections keep nobody out, and end', async () => {
  const address = await startConsole();
  const silent: RawClient[] = [];
  for (let number = 0; number < 100; number += 1) silent.push(await sent(address));
  await works(address);
  await until('the end of the oldest', () => silent.slice(0, 60).every(isOver));
  // One that sends a byte now and then has no more time than one that sends nothing.
  const slow = await sent(address, STARTUP.subarray(0, 6));
  const dripping = setInterval(() => slow.socket.write(STARTUP.subarray(6, 7)), 1_000);
  await until('the end of all', () => [...silent, slow].every(isOver), 8_000);
  clearInterval(dripping);
  for (const { socket } of [...silent, slow]) socket.destroy();
}, 20_000);

async function silentFrom({ host, port }: Address, localAddress: string): Promise<RawClient> {
  const client = watch(connect({ host, port, localAddress }));
  onTestFinished(() => void client.socket.destroy());
  await once(client.socket, 'connect');
  return client;
}

test('silent connections of one address do not cost another address its place', async () => {
  const address = await startConsole();
  const other = await silentFrom(address, '127.0.0.9');
  const crowd: RawClient[] = [];
  for (let number = 0; number < 40; number += 1) crowd.push(await silentFrom(address, '127.0.0.1'));
  await until('the end of the oldest of the crowd', () => crowd.slice(0, 9).every(isOver));
  expect([isOver(other), crowd.slice(9).some(isOver)]).toEqual([false, false]);
});

test('clients that were refused make no room for others', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const clients: RawClient[] = [];
  for (let number = 0; number < 32; number += 1) clients.push(await sent(address, STARTUP));
  await until('the logins', () => clients.every((client) => client.received().length > 0));
  // They keep their own ends open.
  const others: RawClient[] = [];
  for (let number = 0; number < 4; number += 1) others.push(await sent(address, STARTUP));
  await until('the refusals', () => others.every(isOver));
  for (const other of others) expect(errorFields(other.received())).toMatchObject({ C: '53300' });
  for (const { socket } of [...clients, ...others]) socket.destroy();
});

test('clients that have logged in keep their places; one too many is told so', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const clients: RawClient[] = [];
  for (let number = 0; number < 32; number += 1) clients.push(await sent(address, STARTUP));
  await until('the logins', () => clients.every((client) => client.received().length > 0));
  const refused = await connectRaw(address);
  await until('the refusal', () => refused.hasEnded);
  expect(errorFields(refused.received())).toMatchObject({ C: '53300' });
  refused.socket.destroy();
  expect(clients.filter(({ isClosed }) => isClosed)).toEqual([]);
  for (const { socket } of clients) socket.end(aMessage('X'));
  await until('room', () => clients.every(({ isClosed }) => isClosed));
  await works(address);
});

test('a client that does not read its answers is ended, and its answers do not pile up', async () => {
  const address = await startConsole({ token: NO_TOKEN });
  const socket = connect(address);
  socket.on('error', () => {});
  socket.pause();
  socket.write(STARTUP);
  const many = query('show help;'.repeat(32));
  let written = 0;
  const before = process.memoryUsage().rss;
  for (; written < 20_000 && !socket.closed; written += 1) {
    if (!socket.write(many)) {
      await new Promise<void>((resolve) => {
        const end = (): void => resolve();
        socket.once('drain', end).once('close', end);
      });
    }
  }
  await until('the end', () => socket.closed, 15_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  await works(address);
}, 40_000);
