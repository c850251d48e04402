// Proves at the start, over connections of this process to itself, that plain sockets and direct pipes do what Node's
// sockets and streams do: every byte once and in order, whatever stalls and however the bytes are cut; half-close both
// ways; resets both ways. Never throws.
import { Buffer } from 'node:buffer';
import { connect, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../model/instant.ts';
import type { Pipe } from '../stream-pipe.ts';
import { SOCKET_OPTIONS, resetSocket, type ProxySocket } from '../../socket.ts';
import { PlainSocket } from '../../plain/plain-socket.ts';

/** Opens a pipe between two connected sockets. Undefined: this Node does not have the internals. */
export type OpenDirectPipe = (source: ProxySocket, sink: ProxySocket) => Pipe | undefined;

const OTHER_INTERNALS = 'this version of Node has other internals';
const LIMIT_MS = 3_000;
/** Bytes of the pattern. No buffer's length is a multiple of it. */
const PATTERN_BYTES = 65_521;
/** The far end sends so many patterns at a time: 1 MB. */
const TIMES = 16;
/** Where the kernel keeps more than 64 MB between two sockets, nothing stalls. */
const MOST_BYTES = 64 * TIMES * PATTERN_BYTES;
/** Connections that exchange words at the same time: enough for some writes to be batched, and some not. */
const TALKERS = 4;
const WORDS = 16;

interface Pair {
  /** The accepted end, a plain socket, which is relayed to itself. */
  readonly near: ProxySocket;
  readonly pipe: Pipe;
  /** A socket of Node, or a plain one. */
  readonly far: ProxySocket;
  /**
   * Receives for the far end. All those of Node read into one buffer: otherwise Node would allocate 64 kB for each
   * read, and the process would keep that memory.
   */
  readonly ear: { hear: (bytes: Uint8Array) => void };
  readonly words: TestPattern;
}

/** Where the far ends connect to. */
interface TestServer {
  readonly port: number;
  onClient: (client: ProxySocket) => void;
  /** All of the test. */
  readonly sockets: ProxySocket[];
}

/** The far ends send parts of it. */
interface TestPattern {
  readonly pattern: Buffer;
  /** Long enough to compare with any read, wherever it begins in the pattern. */
  readonly repeated: Buffer;
}

/** Resolves when all its sockets are closed: undefined when the test has passed, else the reason. */
export async function testDirectPipes(openPipe: OpenDirectPipe, clock: Clock): Promise<string | undefined> {
  const server = createServer(SOCKET_OPTIONS);
  const sockets: ProxySocket[] = [];
  const expired = Promise.withResolvers<string>();
  const cancelDeadline = clock.schedule(LIMIT_MS, () =>
    expired.resolve(`the self-test took longer than ${LIMIT_MS} ms`),
  );
  try {
    return await Promise.race([run(server, sockets, openPipe), expired.promise]);
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  } finally {
    cancelDeadline();
    await close(server, sockets);
  }
}

async function close(server: Server, sockets: readonly ProxySocket[]): Promise<void> {
  const isClosed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const open = sockets.filter((socket) => !socket.closed);
  const areClosed = Promise.all(open.map((socket) => happened(socket, 'close')));
  for (const socket of open) socket.destroy();
  await Promise.all([isClosed, areClosed]);
  // A server reports its close one turn before its handle is gone; the present turn counts too.
  await nextTurn();
  await nextTurn();
}

async function run(server: Server, sockets: ProxySocket[], openPipe: OpenDirectPipe): Promise<string | undefined> {
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const at = server.address();
  if (at === null || typeof at !== 'object') throw new Error('no address');
  const listening: TestServer = { port: at.port, onClient: () => {}, sockets };
  if (!PlainSocket.acceptAt(server, (client) => listening.onClient(client))) return OTHER_INTERNALS;
  const pairs: Pair[] = [];
  const words = wordsToSay();
  const room = Buffer.alloc(PATTERN_BYTES);
  for (let count = 0; count < TALKERS + 3; count += 1) {
    // The first three talk much, and are reset.
    const connected = await connectedPair(listening, count > 2 && count % 2 === 0, words, room);
    const pipe = openPipe(connected.near, connected.near);
    if (pipe === undefined) return OTHER_INTERNALS;
    pairs.push({ ...connected, pipe });
  }
  const [copying, resetting, reset, ...talkers] = pairs;
  if (copying === undefined || resetting === undefined || reset === undefined) return 'no connections';
  const areSame = await Promise.all(talkers.map(talks));
  if (areSame.includes(false) || !(await copies(copying))) return 'bytes came back changed';
  if (!(await isTold(resetting, () => resetSocket(resetting.near), resetting.far))) return 'a reset did not arrive';
  if (!(await isTold(reset, () => resetSocket(reset.far), reset.near))) return 'a reset was not noticed';
  return undefined;
}

/** Made for each test, so that the memory is free after it. */
function wordsToSay(): TestPattern {
  const pattern = Buffer.alloc(PATTERN_BYTES, Buffer.from(Array.from({ length: 251 }, (_, at) => at)));
  return { pattern, repeated: Buffer.concat([pattern, pattern, pattern]) };
}

/** The first byte has been read already, as `data`. */
async function connectedPair(
  listening: TestServer,
  isFarPlain: boolean,
  words: TestPattern,
  room: Buffer,
): Promise<Omit<Pair, 'pipe'>> {
  const accepted = Promise.withResolvers<ProxySocket>();
  const keep = (socket: ProxySocket): void => void listening.sockets.push(socket.on('error', () => {}));
  listening.onClient = (client) => {
    keep(client);
    accepted.resolve(client);
  };
  const ear: Pair['ear'] = { hear: () => {} };
  const far = isFarPlain ? plainEnd(listening, ear) : nodesEnd(listening, ear, room);
  keep(far);
  await Promise.race([happened(far, 'connect'), failureOf(far)]);
  const near = await accepted.promise;
  far.write(words.pattern.subarray(0, 1));
  await new Promise<void>((resolve) => {
    const received = (): void => {
      near.off('data', received).pause();
      resolve();
    };
    near.on('data', received);
  });
  return { near, far, ear, words };
}

function nodesEnd({ port }: TestServer, ear: Pair['ear'], room: Buffer): ProxySocket {
  const callback = (length: number): boolean => {
    ear.hear(room.subarray(0, length));
    return true;
  };
  return connect({ host: '127.0.0.1', port, ...SOCKET_OPTIONS, onread: { buffer: room, callback } });
}

function plainEnd({ port }: TestServer, ear: Pair['ear']): ProxySocket {
  const socket = PlainSocket.connectTo('127.0.0.1', port);
  if (socket === undefined) throw new Error(OTHER_INTERNALS);
  return socket.on('data', (bytes) => ear.hear(bytes));
}

function failureOf(socket: ProxySocket): Promise<never> {
  return new Promise((_, reject) => {
    socket.on('error', reject);
  });
}

function happened(socket: ProxySocket, event: 'close' | 'connect'): Promise<void> {
  return new Promise((resolve) => {
    socket.once(event, resolve);
  });
}

/** Sends one word after another there and back, each longer, then the end. */
async function talks(pair: Pair): Promise<boolean> {
  const { near, far, pipe, words } = pair;
  echo(near, pipe);
  far.resume();
  const broken = failureOf(far);
  let isSame = true;
  for (let word = 1; word <= WORDS; word += 1) {
    isSame &&= await Promise.race([saidBack(pair, words.pattern.subarray(0, 1 + 9 * word * word)), broken]);
  }
  far.end();
  await Promise.all([happened(far, 'close'), happened(near, 'close')]);
  pipe.closed();
  return isSame;
}

/** Resolves when as many bytes came back as were sent: true when they are the same. */
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

/** Sends there and back until the near end stalls, and a little more. The far end does not read before that. */
async function copies({ near, far, pipe, ear, words: { pattern, repeated } }: Pair): Promise<boolean> {
  let [received, isSame] = [0, true];
  const bytes = { sent: 0, taken: 0 };
  near.on('end', () => far.resume());
  echo(near, pipe, (more) => (bytes.taken += more.length));
  ear.hear = (more) => {
    const at = received % pattern.length;
    isSame &&= repeated.subarray(at, at + more.length).equals(more);
    received += more.length;
  };
  const send = (): void => {
    for (let times = 0; times < TIMES; times += 1) far.write(pattern);
    bytes.sent += TIMES * pattern.length;
  };
  far.pause();
  while (bytes.taken === bytes.sent && bytes.sent < MOST_BYTES) {
    send();
    await standstill(() => bytes.taken);
  }
  send();
  far.end();
  far.resume();
  await Promise.all([happened(far, 'close'), happened(near, 'close')]);
  pipe.closed();
  return isSame && received === bytes.sent;
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

function echo(near: ProxySocket, pipe: Pipe, onBytes: (bytes: Uint8Array) => void = () => {}): void {
  near.on('end', () => pipe.whenFlushed(() => near.end()));
  const receive = (bytes: Uint8Array): void => {
    onBytes(bytes);
    pipe.send(bytes);
  };
  pipe.start({ receive });
}

/** True: the other end gets the reset, and both ends are closed then. */
async function isTold({ near, far, pipe }: Pair, run: () => void, other: ProxySocket): Promise<boolean> {
  pipe.start({ receive: () => {} });
  far.resume();
  let code: unknown;
  other.on('error', (error) => (code = 'code' in error ? error.code : undefined));
  const bothClosed = Promise.all([happened(far, 'close'), happened(near, 'close')]);
  run();
  await bothClosed;
  pipe.closed();
  return code === 'ECONNRESET';
}
