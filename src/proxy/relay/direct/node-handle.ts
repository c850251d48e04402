// A connected socket whose bytes go past Node's streams. Received bytes are read into a buffer that the reader chooses;
// sent bytes go to the kernel synchronously, from the sender's buffer. Ends and failures stay the socket's own.
import { nothing } from '../../../model/once.ts';
import type { ProxySocket } from '../../socket.ts';
import {
  errnoFault,
  handleOf,
  INTERNALS,
  isStreamHandle,
  lastRead,
  tryWrite,
  type StreamHandle,
} from '../../plain/internals.ts';

export interface HandleSink {
  /** `length` bytes are in the buffer. Returns the buffer for the next read; undefined: the same one. */
  read(length: number): Uint8Array | undefined;
}

/** The `onread` of Node, of the handles that a pipe has let go of: another pipe may read from them later. */
const nodesOwn = new WeakMap<StreamHandle, StreamHandle['onread']>();

/** For the books of Node alone. */
const RESOURCE = {};

/**
 * The callbacks of an accepted connection belong to its listener until then; from now on they belong to the step that
 * calls this (fault.ts). Node's own HTTP agent does so with a connection that it uses again.
 */
export function keepContext(socket: ProxySocket): void {
  const handle = handleOf(socket);
  const reset: unknown = isStreamHandle(handle) ? Reflect.get(handle, 'asyncReset') : undefined;
  if (typeof reset === 'function') Reflect.apply(reset, handle, [RESOURCE]);
}

/**
 * Reads once into `buffer`, and stops. Then TLS must take the socket over: nothing else can read from it. An end or a
 * failure is the socket's own. False: this Node does not have these internals, or the socket is not connected.
 */
export function readOnce(socket: ProxySocket, buffer: Uint8Array, onBytes: (bytes: Uint8Array) => void): boolean {
  const handle = handleOf(socket);
  if (INTERNALS === undefined || !isStreamHandle(handle)) return false;
  const own = handle.onread;
  handle.useUserBuffer(buffer);
  handle.onread = (data) => {
    // Nothing of this read is kept with the session.
    handle.onread = own;
    const length = lastRead();
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
  readonly socket: ProxySocket;
  readonly #handle: StreamHandle;
  #onWritten = nothing;
  /** The `onread` of Node. */
  #passOn: StreamHandle['onread'] | undefined;

  private constructor(socket: ProxySocket, handle: StreamHandle) {
    this.socket = socket;
    this.#handle = handle;
  }

  /** Undefined: this Node does not have these internals, or the socket is not connected. */
  static of(socket: ProxySocket): NodeHandle | undefined {
    const handle = handleOf(socket);
    return INTERNALS !== undefined && isStreamHandle(handle) ? new NodeHandle(socket, handle) : undefined;
  }

  /** Reads into `buffer` from now on; may be called again. Bytes that Node has read before still arrive as `data`. */
  readInto(buffer: Uint8Array, reader: HandleSink): void {
    const handle = this.#handle;
    // The second reader of a pipe is its last: the socket's next pipe must not pass on through this one.
    if (this.#passOn !== undefined) nodesOwn.set(handle, this.#passOn);
    const passOn = (this.#passOn ??= nodesOwn.get(handle) ?? handle.onread);
    handle.useUserBuffer(buffer);
    handle.onread = (data) => {
      const length = lastRead();
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
    const status = tryWrite(this.#handle, bytes, this.#written);
    if (status < 0) this.#fail(status);
    return status <= 0;
  }

  readonly #written = (status: number): void => {
    if (status < 0) this.#fail(status);
    this.#onWritten();
  };

  #fail(errno: number): void {
    // The errno of a handle that is gone means nothing.
    if (this.socket.destroyed) return;
    this.socket.destroy(errnoFault('write', errno));
  }
}
