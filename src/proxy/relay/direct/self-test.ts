// Proves, over connections of this process to itself, that a direct pipe does what the documented way does: every byte once and in
// order whatever stalls and however it is cut, half-close both ways, resets both ways. Never throws.
import { Buffer } from 'node:buffer';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../model/instant.ts';
import type { Pipe } from '../stream-pipe.ts';
import { SOCKET_OPTIONS, resetSocket } from '../../socket.ts';

/** From a source to a sink, both connected; undefined: it cannot be. */
export type OpenDirectPipe = (source: Socket, sink: Socket) => Pipe | undefined;

const PROOF_MS = 3_000;
/** Of a length that no buffer's is a multiple of. */
const PATTERN = Buffer.alloc(65_521, Buffer.from(Array.from({ length: 251 }, (_, at) => at)));
/** More than the kernel keeps between two sockets: both directions stall. */
const TIMES = 128;
/** What a read of any length holds, wherever it begins. */
const REPEATED = Buffer.concat([PATTERN, PATTERN, PATTERN]);
/** So many at once exchange so many words: enough for their writes to be gathered, and for some that are not. */
const TALKERS = 4;
const WORDS = 48;

interface Pair {
  /** Accepted; relayed from and to. */
  readonly near: Socket;
  /** From `near` to itself. */
  readonly pipe: Pipe;
  readonly far: Socket;
  /** What the far end hears: in one buffer for all of them, or Node would make one of 64 kB for each read, and the process keep their memory. */
  readonly ear: { hear: (bytes: Uint8Array) => void };
}

/** Resolves with why it is not proven, or with nothing, when nothing of it is left. */
export async function testDirectPipes(openPipe: OpenDirectPipe, clock: Clock): Promise<string | undefined> {
  const server = createServer(SOCKET_OPTIONS);
  const sockets: Socket[] = [];
  const expired = Promise.withResolvers<string>();
  const cancelDeadline = clock.schedule(PROOF_MS, () => expired.resolve(`no proof within ${PROOF_MS} ms`));
  try {
    return await Promise.race([prove(server, sockets, openPipe), expired.promise]);
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  } finally {
    cancelDeadline();
    await close(server, sockets);
  }
}

async function close(server: Server, sockets: readonly Socket[]): Promise<void> {
  const isClosed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const open = sockets.filter((socket) => !socket.closed);
  const areClosed = Promise.all(open.map(closed));
  for (const socket of open) socket.destroy();
  await Promise.all([isClosed, areClosed]);
  // A server says that it is closed one turn before its handle is gone; the turn that runs counts too.
  await nextTurn();
  await nextTurn();
}

async function prove(server: Server, sockets: Socket[], openPipe: OpenDirectPipe): Promise<string | undefined> {
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const pairs: Pair[] = [];
  const room = Buffer.alloc(PATTERN.length);
  for (let count = 0; count < TALKERS + 3; count += 1) {
    const connected = await connectedPair(server, sockets, room);
    const pipe = openPipe(connected.near, connected.near);
    if (pipe === undefined) return 'this Node reads and writes another way';
    pairs.push({ ...connected, pipe });
  }
  const [copying, resetting, reset, ...talkers] = pairs;
  if (copying === undefined || resetting === undefined || reset === undefined) return 'no connections';
  const areSame = await Promise.all(talkers.map(talks));
  if (areSame.includes(false) || !(await copies(copying))) return 'bytes came back otherwise';
  if (!(await isTold(resetting, () => resetSocket(resetting.near), resetting.far))) return 'a reset did not arrive';
  if (!(await isTold(reset, () => resetSocket(reset.far), reset.near))) return 'a reset was not noticed';
  return undefined;
}

/** The first word has been read already, as `data`. */
async function connectedPair(server: Server, sockets: Socket[], room: Buffer): Promise<Omit<Pair, 'pipe'>> {
  const at = server.address();
  if (at === null || typeof at !== 'object') throw new Error('no address');
  const accepted = Promise.withResolvers<Socket>();
  server.once('connection', accepted.resolve);
  const keep = (socket: Socket): void => void sockets.push(socket.on('error', () => {}));
  server.once('connection', keep);
  const ear: Pair['ear'] = { hear: () => {} };
  const callback = (length: number): boolean => {
    ear.hear(room.subarray(0, length));
    return true;
  };
  const far = connect({ host: '127.0.0.1', port: at.port, ...SOCKET_OPTIONS, onread: { buffer: room, callback } });
  keep(far);
  const near = await Promise.race([accepted.promise, failureOf(far)]);
  far.write(PATTERN.subarray(0, 1));
  await once(near, 'data');
  near.pause();
  return { near, far, ear };
}

async function failureOf(socket: Socket): Promise<never> {
  const [error] = await once(socket, 'error');
  throw error;
}

/** One word after another there and back, each a little longer; then the end, there and back. */
async function talks(pair: Pair): Promise<boolean> {
  const { near, far, pipe } = pair;
  echo(near, pipe);
  far.resume();
  const broken = failureOf(far);
  let isSame = true;
  for (let word = 1; word <= WORDS; word += 1) {
    isSame &&= await Promise.race([saidBack(pair, PATTERN.subarray(0, 1 + word * word)), broken]);
  }
  far.end();
  await Promise.all([closed(far), closed(near)]);
  pipe.closed();
  return isSame;
}

/** Resolves when as much as was said has been heard: is it the same? */
function saidBack({ far, ear }: Pair, said: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    let [heard, isSame] = [0, true];
    ear.hear = (bytes) => {
      isSame &&= said.subarray(heard, heard + bytes.length).equals(bytes);
      heard += bytes.length;
      if (heard >= said.length) resolve(isSame);
    };
    far.write(said);
  });
}

/** Sends it all there and back; the far end does not read before the near end has stalled. */
async function copies({ near, far, pipe, ear }: Pair): Promise<boolean> {
  let [received, isSame, taken] = [0, true, 0];
  near.on('end', () => far.resume());
  echo(near, pipe, (bytes) => (taken += bytes.length));
  ear.hear = (bytes) => {
    const at = received % PATTERN.length;
    isSame &&= REPEATED.subarray(at, at + bytes.length).equals(bytes);
    received += bytes.length;
  };
  far.pause();
  for (let times = 0; times < TIMES; times += 1) far.write(PATTERN);
  far.end();
  await standstill(() => taken);
  far.resume();
  await Promise.all([closed(far), closed(near)]);
  pipe.closed();
  return isSame && received === PATTERN.length * TIMES;
}

/** Resolves when the figure has not changed for some turns. */
async function standstill(figure: () => number): Promise<void> {
  let [seen, turns] = [-1, 0];
  while (turns < 20) {
    turns = figure() === seen ? turns + 1 : 0;
    seen = figure();
    await nextTurn();
  }
}

function echo(near: Socket, pipe: Pipe, onBytes: (bytes: Uint8Array) => void = () => {}): void {
  near.on('end', () => pipe.whenFlushed(() => near.end()));
  const receive = (bytes: Uint8Array): void => {
    onBytes(bytes);
    pipe.send(bytes);
  };
  pipe.start({ receive });
}

/** Does the other end hear of it, and are both closed then? */
async function isTold({ near, far, pipe }: Pair, run: () => void, other: Socket): Promise<boolean> {
  pipe.start({ receive: () => {} });
  far.resume();
  let code: unknown;
  other.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
  const bothClosed = Promise.all([closed(far), closed(near)]);
  run();
  await bothClosed;
  pipe.closed();
  return code === 'ECONNRESET';
}

/** Whatever went before: `once` would fail on an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
  });
}
