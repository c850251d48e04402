// Proves, over connections of this process to itself, that an accepted socket that is read into buffers of ours does what one that Node
// reads does: every byte once and in order whatever stalls, half-close both ways, resets both ways. Never throws.
import { Buffer } from 'node:buffer';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/instant.ts';
import { Inflow } from './inflow.ts';
import { SOCKET_OPTIONS, resetSocket } from './socket.ts';

/** Has what is read of an accepted socket go through the inflow from now on; false: it cannot be, and nothing has changed. */
export type ReadInto = (socket: Socket, inflow: Inflow) => boolean;

const PROOF_MS = 3_000;
/** Of a length that no buffer's is a multiple of. */
const PATTERN = Buffer.from(Array.from({ length: 65_521 }, (_, at) => at % 251));
/** More than the kernel keeps between two sockets: both directions stall. */
const TIMES = 128;
/** What a read of any length holds, wherever it begins. */
const REPEATED = Buffer.concat([PATTERN, PATTERN, PATTERN]);

interface Pair {
  /** Accepted, and read into buffers from its second word on. */
  readonly near: Socket;
  readonly inflow: Inflow;
  readonly far: Socket;
}

/** Resolves with why it is not proven, or with nothing, when nothing of it is left. */
export async function proveReads(readInto: ReadInto, clock: Clock): Promise<string | undefined> {
  const server = createServer(SOCKET_OPTIONS);
  const sockets: Socket[] = [];
  const expired = Promise.withResolvers<string>();
  const cancelDeadline = clock.schedule(PROOF_MS, () => expired.resolve(`no proof within ${PROOF_MS} ms`));
  try {
    return await Promise.race([prove(server, sockets, readInto), expired.promise]);
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

async function prove(server: Server, sockets: Socket[], readInto: ReadInto): Promise<string | undefined> {
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const pair = async (): Promise<Pair | undefined> => {
    const { near, far } = await connectedPair(server, sockets);
    const inflow = new Inflow();
    return readInto(near, inflow) ? { near, far, inflow } : undefined;
  };
  const [copying, resetting, reset] = [await pair(), await pair(), await pair()];
  if (copying === undefined || resetting === undefined || reset === undefined)
    return 'this Node reads them another way';
  if (!(await copies(copying))) return 'bytes came back otherwise';
  if (!(await isTold(resetting, () => resetSocket(resetting.near), resetting.far))) return 'a reset did not arrive';
  if (!(await isTold(reset, () => resetSocket(reset.far), reset.near))) return 'a reset was not noticed';
  return undefined;
}

/** The first word has been read already, as `data`. */
async function connectedPair(server: Server, sockets: Socket[]): Promise<Omit<Pair, 'inflow'>> {
  const at = server.address();
  if (at === null || typeof at !== 'object') throw new Error('no address');
  const accepted = Promise.withResolvers<Socket>();
  server.once('connection', accepted.resolve);
  const keep = (socket: Socket): void => void sockets.push(socket.on('error', () => {}));
  server.once('connection', keep);
  const far = connect({ host: '127.0.0.1', port: at.port, ...SOCKET_OPTIONS });
  keep(far);
  const near = await Promise.race([accepted.promise, failureOf(far)]);
  far.write(PATTERN.subarray(0, 1));
  await once(near, 'data');
  near.pause();
  return { near, far };
}

async function failureOf(socket: Socket): Promise<never> {
  const [error] = await once(socket, 'error');
  throw error;
}

/** Sends it all there and back; the far end does not read before the near end has stalled. */
async function copies({ near, far, inflow }: Pair): Promise<boolean> {
  let [received, isSame] = [0, true];
  near.on('data', () => (isSame = false));
  near.on('drain', () => near.resume());
  inflow.flowInto(near, (bytes) => {
    if (near.write(bytes)) return;
    near.pause();
    far.resume();
  });
  near.on('end', () => {
    near.end();
    far.resume();
  });
  far.on('data', (bytes) => {
    const at = received % PATTERN.length;
    isSame &&= REPEATED.subarray(at, at + bytes.length).equals(bytes);
    received += bytes.length;
  });
  far.pause();
  near.resume();
  for (let times = 0; times < TIMES; times += 1) far.write(PATTERN);
  far.end();
  await Promise.all([closed(far), closed(near)]);
  inflow.closed();
  return isSame && received === PATTERN.length * TIMES;
}

/** Does the other end hear of it, and are both closed then? */
async function isTold({ near, far, inflow }: Pair, run: () => void, other: Socket): Promise<boolean> {
  inflow.flowInto(far, () => {});
  near.resume();
  far.resume();
  let code: unknown;
  other.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
  const bothClosed = Promise.all([closed(far), closed(near)]);
  run();
  await bothClosed;
  inflow.closed();
  return code === 'ECONNRESET';
}

/** Whatever went before: `once` would fail on an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
  });
}
