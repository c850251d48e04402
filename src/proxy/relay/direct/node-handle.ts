// A connected socket whose bytes go past Node's streams: what arrives is read into a buffer that the reader names, and what is sent goes
// to the kernel from the sender's buffer, in the same step. Everything else, the end and failures too, stays the socket's. Node
// documents no such way: whether this Node has it, and whether it does what the documented one does, is proven before anybody depends
// on it (`direct-proof.ts`).
import type { Socket } from 'node:net';
import process from 'node:process';
import { getSystemErrorName } from 'node:util';

export interface Reader {
  /** `length` bytes are in the buffer. Returns the buffer for what comes next; undefined: the same. */
  read(length: number): Uint8Array | undefined;
}

/** The part of libuv's stream, as Node wraps it, that is used here (lib/net.js, lib/internal/stream_base_commons.js). */
interface StreamHandle {
  /** Undefined before the first time. */
  reading: boolean | undefined;
  onread: (data?: unknown) => unknown;
  readonly readStart: () => number;
  readonly readStop: () => number;
  readonly useUserBuffer: (buffer: Uint8Array) => void;
  /** 0, or a negative errno; undefined when the handle is gone. The state tells whether the request is needed. */
  readonly writeBuffer: (request: WriteRequest, bytes: Uint8Array) => number;
}

interface WriteRequest {
  oncomplete: (status: number) => void;
  /** Kept from the garbage collector until then. */
  buffer: Uint8Array | undefined;
}

interface Wrap {
  readonly WriteRequest: new () => WriteRequest;
  readonly state: Int32Array;
  readonly readBytesOrError: number;
  readonly lastWriteWasAsync: number;
}

const nothing = (): void => {};

const WRAP = findWrap();
/** What the last read or write came to, where each is said. */
const STATE = WRAP?.state ?? new Int32Array(0);
const READ_BYTES_OR_ERROR = WRAP?.readBytesOrError ?? 0;
const LAST_WRITE_WAS_ASYNC = WRAP?.lastWriteWasAsync ?? 0;

/** A write that the kernel takes at once, as nearly every one, leaves it as it was: the next write has it. */
let spare: WriteRequest | undefined;

/** What a pipe needs of a socket. */
export type PipeEnd = Pick<NodeHandle, keyof NodeHandle>;

export class NodeHandle {
  readonly socket: Socket;
  readonly #handle: StreamHandle;
  readonly #WriteRequest: Wrap['WriteRequest'];
  #onWritten = nothing;

  private constructor(socket: Socket, handle: StreamHandle, { WriteRequest }: Wrap) {
    this.socket = socket;
    this.#handle = handle;
    this.#WriteRequest = WriteRequest;
  }

  /** Undefined: this Node has no such way, or the socket is not connected. */
  static of(socket: Socket): NodeHandle | undefined {
    const handle: unknown = Reflect.get(socket, '_handle');
    return WRAP !== undefined && isHandle(handle) ? new NodeHandle(socket, handle, WRAP) : undefined;
  }

  /** From now on; may be called again. What the socket had read before is still its to give. */
  readInto(buffer: Uint8Array, reader: Reader): void {
    const handle = this.#handle;
    const passOn = handle.onread;
    handle.useUserBuffer(buffer);
    handle.onread = (data) => {
      const length = STATE[READ_BYTES_OR_ERROR] ?? 0;
      return length > 0 ? reader.read(length) : Reflect.apply(passOn, handle, [data]);
    };
  }

  /** Nothing more is read; the kernel keeps what comes. */
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

  /** Told when everything has been written that the kernel did not take at once. */
  whenWritten(onWritten: () => void): void {
    this.#onWritten = onWritten;
  }

  /**
   * In the order of the calls; the socket's own `write` must have nothing waiting. True: the kernel has taken it all, or the socket
   * has failed and says so itself. False: the bytes must stay as they are until they are written.
   */
  write(bytes: Uint8Array): boolean {
    const request = (spare ??= new this.#WriteRequest());
    const error = this.#handle.writeBuffer(request, bytes);
    if (error === 0 && STATE[LAST_WRITE_WAS_ASYNC] === 0) return true;
    spare = undefined;
    if (error !== 0) {
      this.#fail(error);
      return true;
    }
    request.buffer = bytes;
    request.oncomplete = (status) => {
      if (status < 0) this.#fail(status);
      this.#onWritten();
    };
    return false;
  }

  #fail(errno: number): void {
    // A handle that is gone has no errno to tell.
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

function isHandle(value: unknown): value is StreamHandle {
  const names = ['onread', 'readStart', 'readStop', 'useUserBuffer', 'writeBuffer'];
  return isObject(value) && names.every((name) => typeof Reflect.get(value, name) === 'function');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
