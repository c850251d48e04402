// A connected socket whose bytes go past Node's streams. Received bytes are read into a buffer that the reader chooses;
// sent bytes go to the kernel synchronously, from the sender's buffer. Ends and failures stay the socket's own. Node
// does not document these internals, so the self-test proves them at each start. This is the only file that touches
// them, and the only one outside the programs that imports `node:process` (README.md says why).
import type { Socket } from 'node:net';
import process from 'node:process';
import { getSystemErrorName } from 'node:util';
import { nothing } from '../../../model/once.ts';
import { keepingStep } from '../../fault.ts';

export interface HandleSink {
  /** `length` bytes are in the buffer. Returns the buffer for the next read; undefined: the same one. */
  read(length: number): Uint8Array | undefined;
}

/** The used part of Node's wrapper of a libuv stream (Node: lib/net.js, lib/internal/stream_base_commons.js). */
interface StreamHandle {
  /** Undefined before the first read. */
  reading: boolean | undefined;
  onread: (data?: unknown) => unknown;
  readonly readStart: () => number;
  readonly readStop: () => number;
  readonly useUserBuffer: (buffer: Uint8Array) => void;
  /** Returns 0 or a negative errno; undefined when the handle is gone. The state array says whether it is finished. */
  readonly writeBuffer: (request: HandleWrite, bytes: Uint8Array) => number;
}

interface HandleWrite {
  oncomplete: (status: number) => void;
  /** Keeps the bytes from the garbage collector until then. */
  buffer: Uint8Array | undefined;
}

interface Wrap {
  readonly WriteRequest: new () => HandleWrite;
  readonly state: Int32Array;
  readonly readBytesOrError: number;
  readonly lastWriteWasAsync: number;
}

const WRAP = findWrap();
/** Node writes the result of the last read and of the last write here, at these indexes. */
const STATE = WRAP?.state ?? new Int32Array(0);
const READ_BYTES_OR_ERROR = WRAP?.readBytesOrError ?? 0;
const LAST_WRITE_WAS_ASYNC = WRAP?.lastWriteWasAsync ?? 0;

/**
 * A write that the kernel takes at once, as nearly every one, does not use up its request: the next write has it again.
 * One is enough for the process, because `write` runs no other code between taking it and leaving it here.
 */
let unusedRequest: HandleWrite | undefined;

/** The `onread` of Node, of the handles that a pipe has let go of: another pipe may read from them later. */
const nodesOwn = new WeakMap<StreamHandle, StreamHandle['onread']>();

/** For the books of Node alone. */
const RESOURCE = {};

/**
 * The callbacks of an accepted connection belong to its listener until then; from now on they belong to the step that
 * calls this (fault.ts). Node's own HTTP agent does so with a connection that it uses again.
 */
export function keepContext(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  const reset: unknown = isObject(handle) ? Reflect.get(handle, 'asyncReset') : undefined;
  if (typeof reset === 'function') Reflect.apply(reset, handle, [RESOURCE]);
}

/**
 * Reads once into `buffer`, and stops. Then TLS must take the socket over: nothing else can read from it. An end or a
 * failure is the socket's own. False: this Node does not have these internals, or the socket is not connected.
 */
export function readOnce(socket: Socket, buffer: Uint8Array, onBytes: (bytes: Uint8Array) => void): boolean {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (WRAP === undefined || !isHandle(handle)) return false;
  const own = handle.onread;
  handle.useUserBuffer(buffer);
  handle.onread = (data) => {
    // Nothing of this read is kept with the session.
    handle.onread = own;
    const length = STATE[READ_BYTES_OR_ERROR] ?? 0;
    if (length <= 0) return Reflect.apply(own, handle, [data]);
    handle.reading = false;
    handle.readStop();
    onBytes(buffer.subarray(0, length));
    return undefined;
  };
  handle.reading = true;
  handle.readStart();
  return true;
}

/** The part that a pipe needs of it: tests have another implementation. */
export type PipeEnd = Pick<NodeHandle, keyof NodeHandle>;

export class NodeHandle {
  readonly socket: Socket;
  readonly #handle: StreamHandle;
  readonly #WriteRequest: Wrap['WriteRequest'];
  #onWritten = nothing;
  /** The `onread` of Node. */
  #passOn: StreamHandle['onread'] | undefined;

  private constructor(socket: Socket, handle: StreamHandle, { WriteRequest }: Wrap) {
    this.socket = socket;
    this.#handle = handle;
    this.#WriteRequest = WriteRequest;
  }

  /** Undefined: this Node does not have these internals, or the socket is not connected. */
  static of(socket: Socket): NodeHandle | undefined {
    const handle: unknown = Reflect.get(socket, '_handle');
    return WRAP !== undefined && isHandle(handle) ? new NodeHandle(socket, handle, WRAP) : undefined;
  }

  /** Reads into `buffer` from now on; may be called again. Bytes that Node has read before still arrive as `data`. */
  readInto(buffer: Uint8Array, reader: HandleSink): void {
    const handle = this.#handle;
    // The second reader of a pipe is its last: the socket's next pipe must not pass on through this one.
    if (this.#passOn !== undefined) nodesOwn.set(handle, this.#passOn);
    const passOn = (this.#passOn ??= nodesOwn.get(handle) ?? handle.onread);
    handle.useUserBuffer(buffer);
    handle.onread = (data) => {
      const length = STATE[READ_BYTES_OR_ERROR] ?? 0;
      return length > 0 ? reader.read(length) : Reflect.apply(passOn, handle, [data]);
    };
  }

  /** Reads nothing more. The kernel keeps what arrives. */
  pause(): void {
    if (this.#handle.reading !== true) return;
    this.#handle.reading = false;
    this.#handle.readStop();
  }

  resume(): void {
    if (this.#handle.reading === true || this.socket.destroyed) return;
    this.#handle.reading = true;
    this.#handle.readStart();
  }

  /** Calls `onWritten` for each write that the kernel did not take at once, when it is finished. */
  whenWritten(onWritten: () => void): void {
    this.#onWritten = onWritten;
  }

  /**
   * Writes in the order of the calls. Nothing may wait in the socket's own queue. True: the kernel has taken all of it,
   * or the socket has failed and reports so itself. False: the bytes must stay as they are until they are written.
   */
  write(bytes: Uint8Array): boolean {
    const request = (unusedRequest ??= new this.#WriteRequest());
    const error = this.#handle.writeBuffer(request, bytes);
    if (error === 0 && STATE[LAST_WRITE_WAS_ASYNC] === 0) return true;
    unusedRequest = undefined;
    if (error !== 0) {
      this.#fail(error);
      return true;
    }
    request.buffer = bytes;
    // Another session may have made the request.
    request.oncomplete = keepingStep((status) => {
      if (status < 0) this.#fail(status);
      this.#onWritten();
    });
    return false;
  }

  #fail(errno: number): void {
    // The errno of a handle that is gone means nothing.
    if (this.socket.destroyed) return;
    const code = getSystemErrorName(errno);
    this.socket.destroy(Object.assign(new Error(`write ${code}`), { errno, code }));
  }
}

function findWrap(): Wrap | undefined {
  const binding: unknown = Reflect.get(process, 'binding');
  if (typeof binding !== 'function') return undefined;
  try {
    return wrapOf(Reflect.apply(binding, process, ['stream_wrap']));
  } catch {
    return undefined;
  }
}

function wrapOf(binding: unknown): Wrap | undefined {
  const get = (name: string): unknown => (isObject(binding) ? Reflect.get(binding, name) : undefined);
  const [WriteWrap, state] = [get('WriteWrap'), get('streamBaseState')];
  const [readBytesOrError, lastWriteWasAsync] = [get('kReadBytesOrError'), get('kLastWriteWasAsync')];
  if (!isRequestClass(WriteWrap) || !(state instanceof Int32Array)) return undefined;
  if (typeof readBytesOrError !== 'number' || typeof lastWriteWasAsync !== 'number') return undefined;
  return { WriteRequest: WriteWrap, state, readBytesOrError, lastWriteWasAsync };
}

function isRequestClass(value: unknown): value is Wrap['WriteRequest'] {
  return typeof value === 'function';
}

const METHODS = ['onread', 'readStart', 'readStop', 'useUserBuffer', 'writeBuffer'];

/** That of the last handle with these methods: nearly all connections have the same one. */
let provenPrototype: unknown;

function isHandle(value: unknown): value is StreamHandle {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === provenPrototype) return true;
  if (!METHODS.every((name) => typeof Reflect.get(value, name) === 'function')) return false;
  // Any object has this one.
  if (prototype !== Object.prototype) provenPrototype = prototype;
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
