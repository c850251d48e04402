// A plain socket does what a socket of Node does, for all that the proxy uses: each test runs with both.
import { connect, createServer, Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RelayMode } from '../../../../src/model/policy.ts';
import { nodeSocket, PlainSocket } from '../../../../src/proxy/plain/plain-socket.ts';
import { SOCKET_OPTIONS, type ProxySocket } from '../../../../src/proxy/socket.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { closedPort, listen } from '../../../support/sockets/listen.ts';
import { until } from '../../../support/waiting/until.ts';

/** More than the kernel takes while its reader is silent. */
const MUCH = Buffer.alloc(16 * 1024 * 1024, 'much');

interface Ends {
  /** The socket of the test. */
  readonly near: ProxySocket;
  /** Node's, which reads nothing before `resume`. */
  readonly far: Socket;
  /** The events of `near`, in order. */
  readonly told: string[];
}

async function listening(arePlain: boolean, onClient: (client: ProxySocket) => void): Promise<number> {
  const server = createServer(SOCKET_OPTIONS, onClient);
  const port = await listen(server);
  if (arePlain) expect(PlainSocket.acceptAt(server, onClient)).toBe(true);
  onTestFinished(() => void server.close());
  return port;
}

async function accepted(isPlain: boolean): Promise<Ends> {
  const { promise, resolve } = Promise.withResolvers<ProxySocket>();
  const far = connect({ port: await listening(isPlain, resolve), ...SOCKET_OPTIONS });
  return ends(await promise, far);
}

async function connected(isPlain: boolean): Promise<Ends> {
  const { promise, resolve } = Promise.withResolvers<ProxySocket>();
  const port = await listening(false, resolve);
  const near = isPlain ? PlainSocket.connectTo('127.0.0.1', port) : connect({ port, ...SOCKET_OPTIONS });
  if (near === undefined) throw new Error('other internals');
  await new Promise<void>((done) => {
    near.once('connect', done);
  });
  return ends(near, nodeSocket(await promise));
}

function ends(near: ProxySocket, far: Socket): Ends {
  const told: string[] = [];
  near
    .on('error', (error) => told.push(`error ${'code' in error ? String(error.code) : error.message}`))
    .on('end', () => told.push('end'))
    .on('close', () => told.push('close'))
    .on('drain', () => told.push('drain'))
    .on('finish', () => told.push('finish'));
  far.on('error', () => {});
  onTestFinished(() => {
    near.destroy();
    far.destroy();
  });
  return { near, far, told };
}

function heardBy(socket: ProxySocket): () => string {
  let heard = '';
  socket.on('data', (bytes) => {
    heard += Buffer.from(bytes).toString();
  });
  return () => heard;
}

describe.each<[string, (isPlain: boolean) => Promise<Ends>]>([
  ['accepted', accepted],
  ['connected', connected],
])('%s,', (_how, open) => {
  describe.each([
    ['a plain socket', true],
    ['a socket of Node', false],
  ])('%s', (_kind, isPlain) => {
    test('goes on to send behind the end of its peer, and closes behind both ends', async () => {
      const { near, far, told } = await open(isPlain);
      const [here, there] = [heardBy(near), heardBy(far)];
      far.end('question');
      await until('the end', () => told.includes('end'));
      expect([here(), near.readableEnded, near.writable, near.destroyed]).toEqual(['question', true, true, false]);
      expect(near.write(Buffer.from('answer'))).toBe(true);
      near.end(Buffer.from(', all of it'));
      await until('the close', () => told.includes('close'));
      await until('the answer', () => far.readableEnded);
      expect([there(), told]).toEqual(['answer, all of it', ['end', 'finish', 'close']]);
      expect([near.writable, near.writableEnded, near.writableFinished]).toEqual([false, true, true]);
    });

    test('goes on to read behind its own end', async () => {
      const { near, far, told } = await open(isPlain);
      const here = heardBy(near);
      let isFinished = false;
      near.end(() => (isFinished = true));
      far.resume();
      await until('the end at the peer', () => far.readableEnded);
      far.end('behind it');
      await until('the close', () => told.includes('close'));
      expect([here(), isFinished, told]).toEqual(['behind it', true, ['finish', 'end', 'close']]);
    });

    test('paused, tells nothing, and then all in order, the end last', async () => {
      const { near, far, told } = await open(isPlain);
      const here = heardBy(near);
      far.write('one,');
      await until('the first', () => here() === 'one,');
      expect(near.pause().isPaused()).toBe(true);
      far.end('three');
      await until('it was sent', () => far.writableFinished);
      near.unshift(Buffer.from('two,'));
      expect([here(), near.readableLength >= 4, told]).toEqual(['one,', true, []]);
      expect(near.resume().isPaused()).toBe(false);
      expect(here()).toBe('one,');
      await until('the end', () => told.includes('end'));
      expect([here(), near.readableLength]).toEqual(['one,two,three', 0]);
    });

    test('a reader that pauses within a chunk gets the next one later', async () => {
      const { near, far } = await open(isPlain);
      const chunks: string[] = [];
      near.on('data', (bytes) => {
        chunks.push(Buffer.from(bytes).toString());
        near.pause();
      });
      near.pause();
      near.unshift(Buffer.from('b'));
      near.unshift(Buffer.from('a'));
      near.resume();
      await until('the first', () => chunks.length > 0);
      expect(near.push(Buffer.from('c'))).toBe(false);
      while (chunks.join('').length < 3) {
        const before = chunks.length;
        near.resume();
        await until('the next', () => chunks.length > before);
      }
      expect(chunks.join('')).toBe('abc');
      expect(far.destroyed).toBe(false);
    });

    test('says when the kernel has not taken a write, and when it has', async () => {
      const { near, far, told } = await open(isPlain);
      expect(near.write(MUCH)).toBe(false);
      expect([near.writableLength > 0, near.writableNeedDrain]).toEqual([true, true]);
      far.resume();
      await until('the drain', () => told.includes('drain'));
      expect([near.writableLength, near.writableNeedDrain, near.write(Buffer.from('more'))]).toEqual([0, false, true]);
    });

    test('ends behind bytes that wait', async () => {
      const { near, far, told } = await open(isPlain);
      let received = 0;
      far.on('data', (bytes) => (received += bytes.length)).pause();
      near.write(MUCH);
      near.end(Buffer.from('last'));
      near.destroySoon();
      expect([near.writable, near.destroyed]).toEqual([false, false]);
      far.resume();
      await until('the close', () => told.includes('close'));
      await until('the end', () => far.readableEnded);
      expect([received, told]).toEqual([MUCH.length + 4, ['finish', 'close']]);
    });

    test('closes soon, with all that it was given', async () => {
      const { near, far, told } = await open(isPlain);
      const there = heardBy(far);
      near.write(Buffer.from('goodbye'));
      near.destroySoon();
      await until('the end', () => far.readableEnded);
      expect([there(), near.destroyed, told.at(-1)]).toEqual(['goodbye', true, 'close']);
    });

    test('tells a reset by its peer, then its close', async () => {
      const { near, far, told } = await open(isPlain);
      near.resume();
      far.resetAndDestroy();
      await until('the close', () => told.includes('close'));
      expect([told, near.destroyed, near.readableEnded]).toEqual([['error ECONNRESET', 'close'], true, false]);
    });

    test('resets its peer', async () => {
      const { near, far, told } = await open(isPlain);
      let code: unknown;
      far.on('error', (error: NodeJS.ErrnoException) => (code = error.code)).resume();
      near.write(Buffer.from('lost'));
      near.resetAndDestroy();
      near.resetAndDestroy();
      await until('the reset', () => far.closed);
      await until('its own close', () => told.includes('close'));
      expect([code, told]).toEqual(['ECONNRESET', ['close']]);
    });

    test('is destroyed once, with the first error, and tells nothing after that', async () => {
      const { near, far, told } = await open(isPlain);
      const here = heardBy(near);
      near.destroy(new Error('why'));
      near.destroy(new Error('another'));
      expect([near.destroyed, told]).toEqual([true, []]);
      expect([near.write(Buffer.from('late')), near.end(Buffer.from('later')) === near]).toEqual([false, true]);
      near.pause().resume().setKeepAlive(true, 1000);
      far.write('late, too');
      await until('the close', () => told.includes('close'));
      expect([here(), told]).toEqual(['', ['error why', 'close']]);
    });

    test('may be destroyed by a reader of its bytes', async () => {
      const { near, far, told } = await open(isPlain);
      let chunks = 0;
      near.on('data', () => {
        chunks += 1;
        near.destroy();
      });
      far.end('some');
      await until('the close', () => told.includes('close'));
      expect([chunks, told]).toEqual([1, ['close']]);
    });

    test('fails at a write behind its end', async () => {
      const { near, told } = await open(isPlain);
      near.end();
      near.write(Buffer.from('late'));
      await until('the close', () => told.includes('close'));
      expect(told.some((one) => one.startsWith('error'))).toBe(true);
    });

    test('fails at a write to a peer that is gone', async () => {
      const { near, far, told } = await open(isPlain);
      near.pause();
      far.resetAndDestroy();
      await until('the close', () => {
        near.write(Buffer.from('is anybody there?'));
        return told.includes('close');
      });
      expect(told).toEqual([expect.stringMatching(/^error E(?:PIPE|CONNRESET)$/), 'close']);
    });

    test('knows both addresses, and how much it has read, also when it is closed', async () => {
      const { near, far, told } = await open(isPlain);
      const here = heardBy(near);
      far.write('twelve bytes');
      await until('the bytes', () => here().length === 12);
      const { localAddress, localPort, remoteAddress, remotePort } = near;
      expect({ localAddress, localPort, remoteAddress, remotePort }).toEqual({
        localAddress: '127.0.0.1',
        localPort: far.remotePort,
        remoteAddress: '127.0.0.1',
        remotePort: far.localPort,
      });
      near.destroy();
      await until('the close', () => told.includes('close'));
      expect([near.bytesRead, near.remoteAddress, near.localAddress]).toEqual([12, '127.0.0.1', undefined]);
    });
  });
});

test.each([true, false])('a connect that is refused fails, then closes: plain %s', async (isPlain) => {
  const port = await closedPort();
  const near = isPlain ? PlainSocket.connectTo('127.0.0.1', port) : connect({ port, host: '127.0.0.1' });
  const told: string[] = [];
  near
    ?.on('error', (error: NodeJS.ErrnoException) => told.push(error.code ?? ''))
    .on('close', () => told.push('close'));
  expect(near?.connecting).toBe(true);
  await until('the close', () => told.includes('close'));
  expect([told, near?.destroyed]).toEqual([['ECONNREFUSED', 'close'], true]);
});

test('a connect that the system refuses at once fails later, as one that the peer refuses', async () => {
  const near = PlainSocket.connectTo('255.255.255.255', 1);
  const told: string[] = [];
  near?.on('error', (error) => told.push(error.message)).on('close', () => told.push('close'));
  expect(told).toEqual([]);
  await until('the close', () => told.includes('close'));
  expect(told).toEqual([expect.stringMatching(/^connect E/), 'close']);
});

test('a plain socket becomes one of Node: what was unread comes first, and it reports nothing itself', async () => {
  const { near, far, told } = await connected(true);
  near.pause();
  near.unshift(Buffer.from('unread'));
  const node = nodeSocket(near);
  const there = heardBy(far);
  expect([node instanceof Socket, node.isPaused(), near.destroyed]).toEqual([true, true, true]);
  const here = heardBy(node);
  node.resume();
  node.write('hello');
  await until('its bytes', () => there() === 'hello' && here() === 'unread');
  expect(nodeSocket(node)).toBe(node);
  // An error of it is ignored where nobody listens, as with all sockets of sessions.
  far.resetAndDestroy();
  await until('the close', () => node.destroyed);
  expect([told, node.errored]).toMatchObject([[], { code: 'ECONNRESET' }]);
});

test.each<[RelayMode, number]>([
  ['auto', 2],
  ['streams', 0],
])('relay %s: of the two sockets of a session, %i are plain', async (relay, count) => {
  const hasRead = vi.spyOn(PlainSocket.prototype, 'hasRead');
  onTestFinished(() => hasRead.mockRestore());
  const backend = await startFakeBackend('echo');
  const lab = await startProxyLab({ relay, table: { write: { open: { 'pg-1': backend.address } } } });
  onTestFinished(() => lab.end(backend));
  hasRead.mockClear();
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the echo', () => client.received().length === aStartup().length);
  client.socket.end();
  await until('the end', () => client.isClosed);
  expect(new Set(hasRead.mock.contexts).size).toBe(count);
});
