// The part of Node's wrapper of libuv that the direct path uses. Node does not document it (lib/net.js,
// lib/internal/stream_base_commons.js), so the self-test proves it at each start. This is the only file that looks for
// it, and the only one outside the programs that imports `node:process` (README.md says why).
import process from 'node:process';
import { getSystemErrorName } from 'node:util';
import { keepingStep } from '../fault.ts';

/** A connected socket, below Node's streams. */
export interface StreamHandle {
  /** Undefined before the first read. */
  reading: boolean | undefined;
  onread: (data?: unknown) => unknown;
  readonly readStart: () => number;
  readonly readStop: () => number;
  readonly useUserBuffer: (buffer: Uint8Array) => void;
  /** Returns 0 or a negative errno; undefined when the handle is gone. The state array says whether it is finished. */
  readonly writeBuffer: (request: HandleWrite, bytes: Uint8Array) => number | undefined;
}

/** One of TCP. Its calls return 0 or a negative errno, `shutdown` 1 where the peer has left already. */
export interface TcpHandle extends StreamHandle {
  readonly bytesRead: number;
  readonly connect: (request: HandleCall, host: string, port: number) => number;
  readonly connect6: (request: HandleCall, host: string, port: number) => number;
  readonly shutdown: (request: HandleCall) => number;
  readonly close: (onClosed: () => void) => void;
  readonly reset: (onClosed: () => void) => number;
  readonly setNoDelay: (isOn: boolean) => number;
  readonly setKeepAlive: (isOn: boolean, seconds: number) => number;
  readonly getpeername: (into: EndPoint) => number;
  readonly getsockname: (into: EndPoint) => number;
}

export interface EndPoint {
  address?: string;
  port?: number;
}

/** One call whose end comes later. `status`: 0 or a negative errno. */
export interface HandleCall {
  oncomplete: (status: number) => void;
}

interface HandleWrite extends HandleCall {
  /** Keeps the bytes from the garbage collector until then. */
  buffer: Uint8Array | undefined;
}

interface Internals {
  readonly newTcp: () => TcpHandle;
  readonly ConnectRequest: new () => HandleCall;
  readonly ShutdownRequest: new () => HandleCall;
  readonly WriteRequest: new () => HandleWrite;
  /** Node writes the result of the last read and of the last write here. */
  readonly state: Int32Array;
  readonly readBytesOrError: number;
  readonly lastWriteWasAsync: number;
}

/** Undefined: this Node has others. */
export const INTERNALS = find();

const STATE = INTERNALS?.state ?? new Int32Array(0);
const READ_BYTES_OR_ERROR = INTERNALS?.readBytesOrError ?? 0;
const LAST_WRITE_WAS_ASYNC = INTERNALS?.lastWriteWasAsync ?? 0;

/** For use within `onread`: how many bytes came, or a negative errno. */
export function lastRead(): number {
  return STATE[READ_BYTES_OR_ERROR] ?? 0;
}

/** For a handle that is closed. */
const GONE = -1;

/**
 * A write that the kernel takes at once, as nearly every one, does not use up its request: the next write has it again.
 * One is enough for the process, because `tryWrite` runs no other code between taking it and leaving it here.
 */
let unusedRequest: HandleWrite | undefined;

/**
 * Writes in the order of the calls. 0: the kernel has taken all of it. Below 0: an errno, and nothing is written.
 * Above 0: it waits, and the bytes must stay as they are until `onDone`, whose status is 0 or an errno.
 */
export function tryWrite(handle: StreamHandle, bytes: Uint8Array, onDone: (status: number) => void): number {
  if (INTERNALS === undefined) return 0;
  const request = (unusedRequest ??= new INTERNALS.WriteRequest());
  const error = handle.writeBuffer(request, bytes);
  if (error === 0 && STATE[LAST_WRITE_WAS_ASYNC] === 0) return 0;
  unusedRequest = undefined;
  if (error !== 0) return error ?? GONE;
  request.buffer = bytes;
  // Another session may have made the request.
  request.oncomplete = keepingStep(onDone);
  return 1;
}

/** As Node makes them: `read ECONNRESET`. */
export function errnoFault(call: string, errno: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`${call} ${code}`), { errno, code, syscall: call });
}

/** That of a connected socket, or of a server. */
export function handleOf(socket: object): unknown {
  return Reflect.get(socket, '_handle');
}

const STREAM_METHODS = ['readStart', 'readStop', 'useUserBuffer', 'writeBuffer'];
const TCP_METHODS = ['connect', 'connect6', 'shutdown', 'close', 'reset', 'setNoDelay', 'setKeepAlive'].concat(
  'getpeername',
  'getsockname',
);

/** The prototypes of the last handles with these methods: nearly all connections have the same ones. */
const proven: { stream?: unknown; tcp?: unknown } = {};

export function isStreamHandle(value: unknown): value is StreamHandle {
  // `onread` is undefined in a handle that nothing has read.
  return isObject(value) && has(value, 'stream', STREAM_METHODS) && 'onread' in value;
}

export function isTcpHandle(value: unknown): value is TcpHandle {
  return INTERNALS !== undefined && isStreamHandle(value) && has(value, 'tcp', TCP_METHODS);
}

function has(value: object, kind: keyof typeof proven, names: readonly string[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === proven[kind]) return true;
  if (!names.every((name) => typeof Reflect.get(value, name) === 'function')) return false;
  // Any object has this one.
  if (prototype !== Object.prototype) proven[kind] = prototype;
  return true;
}

function find(): Internals | undefined {
  const binding: unknown = Reflect.get(process, 'binding');
  if (typeof binding !== 'function') return undefined;
  try {
    const [stream, tcp]: unknown[] = ['stream_wrap', 'tcp_wrap'].map((name) => Reflect.apply(binding, process, [name]));
    return internalsOf(stream, tcp);
  } catch {
    return undefined;
  }
}

function internalsOf(stream: unknown, tcp: unknown): Internals | undefined {
  const [WriteRequest, ShutdownRequest] = [part(stream, 'WriteWrap'), part(stream, 'ShutdownWrap')];
  const [ConnectRequest, Tcp] = [part(tcp, 'TCPConnectWrap'), part(tcp, 'TCP')];
  const [state, kind] = [part(stream, 'streamBaseState'), part(part(tcp, 'constants'), 'SOCKET')];
  const [readBytesOrError, lastWriteWasAsync] = [part(stream, 'kReadBytesOrError'), part(stream, 'kLastWriteWasAsync')];
  if (!isClass(WriteRequest) || !isClass(ShutdownRequest) || !isClass(ConnectRequest) || !isClass(Tcp))
    return undefined;
  if (!(state instanceof Int32Array)) return undefined;
  if (typeof readBytesOrError !== 'number' || typeof lastWriteWasAsync !== 'number') return undefined;
  const newTcp = (): TcpHandle => new Tcp(kind);
  return { newTcp, ConnectRequest, ShutdownRequest, WriteRequest, state, readBytesOrError, lastWriteWasAsync };
}

function part(of: unknown, name: string): unknown {
  return isObject(of) ? Reflect.get(of, name) : undefined;
}

/** The self-test shows what its objects do. */
function isClass(value: unknown): value is new (...args: readonly unknown[]) => never {
  return typeof value === 'function';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
