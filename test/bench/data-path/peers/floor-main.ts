// A TCP proxy of bare Node handles without any logic: the least that a proxy in Node can do. It accepts, connects,
// copies both ways, passes a half-close on, and closes. Nothing is checked, counted, framed, timed or gathered. The
// handles are undocumented (Node: lib/net.js, lib/internal/stream_base_commons.js). Prints its port.
import { Buffer } from 'node:buffer';

interface Handle {
  readonly writeQueueSize: number;
  onread: (data?: unknown) => void;
  onconnection: (status: number, client: Handle) => void;
  bind(host: string, port: number): number;
  listen(backlog: number): number;
  getsockname(into: object): number;
  connect(request: Request, host: string, port: number): number;
  setNoDelay(isOn: boolean): number;
  useUserBuffer(buffer: Buffer): void;
  readStart(): number;
  readStop(): number;
  writeBuffer(request: Request, bytes: Uint8Array): number;
  shutdown(request: Request): number;
  close(): void;
}

interface Request {
  oncomplete: (status: number) => void;
  buffer?: Uint8Array;
}

interface Internals {
  readonly TCP: new (kind: number) => Handle;
  readonly TCPConnectWrap: new () => Request;
  readonly WriteWrap: new () => Request;
  readonly ShutdownWrap: new () => Request;
  readonly constants: { readonly SOCKET: number; readonly SERVER: number };
  readonly streamBaseState: Int32Array;
  readonly kReadBytesOrError: number;
  readonly kLastWriteWasAsync: number;
}

const BACKLOG = 4096;
const READ_BYTES = 65_536;
/** A read has met the end: libuv's UV_EOF. */
const END = -4095;
const internals = internalsOf('tcp_wrap', 'stream_wrap');
const { TCP, TCPConnectWrap, WriteWrap, ShutdownWrap, constants, streamBaseState } = internals;
const { kReadBytesOrError, kLastWriteWasAsync } = internals;
const backendPort = Number(process.argv[2]);

/** All sockets are read into one buffer, unless the kernel has not taken all of it yet. */
let shared: Buffer = Buffer.allocUnsafeSlow(READ_BYTES);
const free: Buffer[] = [];
const open = new Set<Handle>();
/** A write that the kernel takes at once does not use its request up. */
let request = new WriteWrap();

process.stdin.once('close', () => process.exit()).resume();
const listener = new TCP(constants.SERVER);
if (listener.bind('127.0.0.1', 0) !== 0) throw new Error('bind');
listener.onconnection = (status, client) => {
  if (status === 0) accept(client);
};
if (listener.listen(BACKLOG) !== 0) throw new Error('listen');
const at: { port?: number } = {};
listener.getsockname(at);
console.log(JSON.stringify({ port: at.port }));

function accept(client: Handle): void {
  const backend = new TCP(constants.SOCKET);
  const connecting = new TCPConnectWrap();
  connecting.oncomplete = (status) => {
    if (status < 0) return closeAll(client, backend);
    const sides = { ended: 0 };
    copy(client, backend, sides);
    copy(backend, client, sides);
    return undefined;
  };
  open.add(client).add(backend);
  if (backend.connect(connecting, '127.0.0.1', backendPort) !== 0) closeAll(client, backend);
}

function copy(from: Handle, to: Handle, sides: { ended: number }): void {
  from.setNoDelay(true);
  from.useUserBuffer(shared);
  from.onread = () => {
    const length = streamBaseState[kReadBytesOrError] ?? 0;
    if (length > 0) return write(shared.subarray(0, length), from, to);
    // libuv also reports a read that has found nothing.
    if (length === 0) return undefined;
    if (length !== END) return closeAll(from, to);
    sides.ended += 1;
    if (sides.ended === 2 && to.writeQueueSize === 0) return closeAll(from, to);
    const ending = new ShutdownWrap();
    ending.oncomplete = () => {
      if (sides.ended === 2) closeAll(from, to);
    };
    if (to.shutdown(ending) < 0) closeAll(from, to);
    return undefined;
  };
  from.readStart();
}

function write(bytes: Buffer, from: Handle, to: Handle): void {
  const error = to.writeBuffer(request, bytes);
  if (error !== 0) return closeAll(from, to);
  if (streamBaseState[kLastWriteWasAsync] === 0) return undefined;
  const [mine, waiting] = [shared, request];
  [shared, request] = [free.pop() ?? Buffer.allocUnsafeSlow(READ_BYTES), new WriteWrap()];
  for (const handle of open) handle.useUserBuffer(shared);
  from.readStop();
  waiting.buffer = bytes;
  waiting.oncomplete = (status) => {
    free.push(mine);
    if (status < 0) closeAll(from, to);
    else if (open.has(from)) from.readStart();
  };
  return undefined;
}

function closeAll(...handles: readonly Handle[]): void {
  for (const handle of handles) if (open.delete(handle)) handle.close();
}

function internalsOf(...names: readonly string[]): Internals {
  const binding: (name: string) => Partial<Internals> = Reflect.get(process, 'binding');
  return Object.assign({}, ...names.map((name) => binding(name)));
}
