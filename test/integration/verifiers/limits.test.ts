// A server that accepts and stays silent: each question ends by its time limit or with the batch, and its connection
// with it.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { VerifierBatch } from '../../../src/model/moves.ts';
import { connectTo } from '../../support/sockets/connect-to.ts';
import { verifierOpener } from '../../../src/verifiers/batch.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, aMessage, readyForQuery } from '../../support/sockets/messages.ts';
import { listen } from '../../support/sockets/listen.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { until } from '../../support/waiting/until.ts';

const POLICY = {
  kind: 'query',
  user: 'pm',
  passwordFile: undefined,
  database: 'postgres',
  query: 'SELECT $1',
} as const;

interface Silence {
  readonly batch: VerifierBatch;
  readonly clock: ManualClock;
  readonly port: number;
  /** `closed`: its end. */
  readonly accepted: Promise<{ readonly closed: Promise<unknown> }>;
}

async function silentServer(): Promise<Silence> {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = await listen(server);
  const at = { host: '127.0.0.1', port };
  const clock = new ManualClock();
  return {
    batch: verifierOpener(clock)(POLICY, at, connectTo(at)),
    clock,
    port,
    accepted: firstOf(server),
  };
}

async function firstOf(server: Server): Promise<{ readonly closed: Promise<unknown> }> {
  const { promise, resolve } = Promise.withResolvers<{ readonly closed: Promise<unknown> }>();
  server.once('connection', (socket) => resolve({ closed: once(socket.resume(), 'close') }));
  return promise;
}

test('a server that does not answer', async () => {
  const { batch, clock, port, accepted } = await silentServer();
  const lookups = ['app', 'other'].map((role) => batch.find(role));
  const { closed } = await accepted;
  await clock.advance(10_000);
  const [first, second] = await Promise.all(lookups);
  expect(first).toEqual({ kind: 'failed', why: `role "pm" on 127.0.0.1:${port}: silent for 10 s` });
  expect(second).toMatchObject({ kind: 'failed' });
  await closed;
  expect(clock.pending()).toBe(0);
  batch.end();
});

test('the end of the batch while a question is under way', async () => {
  const { batch, clock, accepted } = await silentServer();
  const lookups = ['app', 'other'].map((role) => batch.find(role));
  const { closed } = await accepted;
  batch.end();
  expect(await Promise.all(lookups)).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }]);
  await closed;
  expect(clock.pending()).toBe(0);
});

const COLUMN = Buffer.concat([Buffer.from([0, 1]), Buffer.from('v\0'), Buffer.alloc(4), Buffer.alloc(14)]);
const NOTHING_STORED = Buffer.concat([
  aMessage('1'),
  aMessage('2'),
  aMessage('T', COLUMN),
  aMessage('D', Buffer.from([0, 1, 255, 255, 255, 255])),
  COMMAND_COMPLETE,
  readyForQuery('I'),
]);

test('a server that answers once and is silent from then on', async () => {
  const answers = [Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]), NOTHING_STORED];
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.write(answers.shift() ?? Buffer.alloc(0)));
  });
  onTestFinished(() => void server.close());
  const at = { host: '127.0.0.1', port: await listen(server) };
  const clock = new ManualClock();
  const batch = verifierOpener(clock)(POLICY, at, connectTo(at));
  expect(await batch.find('app')).toMatchObject({ kind: 'refused' });
  const lookup = batch.find('other');
  await until('the limit', () => clock.pending() > 0);
  await clock.advance(10_000);
  expect(await lookup).toMatchObject({ kind: 'failed', why: expect.stringContaining('silent for 10 s') });
  batch.end();
});

test('a server that is slow at each step, the connect included, has its time', async () => {
  const { promise: connected, resolve: connects } = Promise.withResolvers<void>();
  const asked: Buffer[] = [];
  const server = createServer((socket) => void socket.on('error', () => {}).on('data', (chunk) => asked.push(chunk)));
  onTestFinished(() => void server.close());
  const connection = once(server, 'connection');
  const at = { host: '127.0.0.1', port: await listen(server) };
  const clock = new ManualClock();
  const batch = verifierOpener(clock)(POLICY, at, async (signal) => {
    await connected;
    return connectTo(at)(signal);
  });
  const lookup = batch.find('app');
  await clock.advance(9_900);
  connects();
  const [socket]: Socket[] = await connection;
  for (const answer of [Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]), NOTHING_STORED]) {
    await until('the next request', () => asked.splice(0).length > 0);
    await clock.advance(9_900);
    socket?.write(answer);
  }
  expect(await lookup).toMatchObject({ kind: 'refused' });
  batch.end();
});

test('the end of the batch right behind an answer: what TLS has kept of it is overwritten first', async () => {
  const answers = [Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]), NOTHING_STORED];
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        asked.push(chunk.toString('latin1'));
        socket.write(answers.shift() ?? Buffer.alloc(0));
      });
  });
  onTestFinished(() => void server.close());
  const at = { host: '127.0.0.1', port: await listen(server) };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const connection = once(server, 'connection');
  const batch = verifierOpener(new ManualClock())(POLICY, at, connectTo(at));
  expect(await batch.find('app')).toMatchObject({ kind: 'refused' });
  batch.end();
  const [socket]: Socket[] = await connection;
  socket?.once('end', end);
  await until('the longer answer is asked for', () => asked.some((text) => text.includes('repeat')));
  socket?.write(Buffer.concat([aMessage('T', COLUMN), COMMAND_COMPLETE, readyForQuery('I')]));
  await ended;
  expect(asked.at(-1)).toBe('X\0\0\0\u0004');
});
