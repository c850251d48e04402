// The handle below a socket of Node, on a simulated kernel. So everything above it is Node's own: `net.Socket` with its
// streams, its half-open connections and its order of events. sockets.test.ts holds the result to a real socket.
import { AsyncLocalStorage } from 'node:async_hooks';
import { STREAM, TCP_PROTOTYPE } from './node-internals.ts';
import { ERRNO, type TcpEnd } from './tcp-end.ts';

/** The process that has the handle. */
export interface HandleProcess {
  /** Runs it in a turn of the event loop of its own, unless the process is gone until then. */
  soon(run: () => void): void;
  connect(address: string, port: number, onResult: (result: TcpEnd | number) => void): TcpEnd;
}

/** Told of bytes that the kernel has taken. */
export type SentBytes = (to: { readonly address: string; readonly port: number }, bytes: Uint8Array) => void;

interface Request {
  readonly oncomplete: (...values: readonly unknown[]) => void;
}

interface PendingWrite {
  readonly request: Request;
  rest: Uint8Array;
  readonly context: Context;
}

type Context = ReturnType<typeof AsyncLocalStorage.snapshot>;

const UV_EOF = -4095;
const UV_EINVAL = -22;
const UV_ECANCELED = -125;
const READ_BYTES = 64 * 1024;

export class KernelHandle {
  // Own properties: those of the prototype are native.
  onread: (data?: ArrayBuffer) => unknown = () => {};
  reading = false;
  bytesRead = 0;
  bytesWritten = 0;
  readonly fd = -1;
  readonly writeQueueSize = 0;
  readonly #process: HandleProcess;
  readonly #onSent: SentBytes | undefined;
  #end: TcpEnd | undefined;
  #context: Context = AsyncLocalStorage.snapshot();
  #isReading = false;
  #isWaking = false;
  #isOver = false;
  #isClosed = false;
  readonly #writes: PendingWrite[] = [];
  #shutdown: PendingWrite | undefined;

  constructor(process: HandleProcess, end?: TcpEnd, onSent?: SentBytes) {
    this.#process = process;
    this.#onSent = onSent;
    if (end !== undefined) this.#attach(end);
  }

  getAsyncId(): number {
    return 0;
  }

  asyncReset(): void {
    this.#context = AsyncLocalStorage.snapshot();
  }

  connect(request: Request, address: string, port: number): number {
    const context = AsyncLocalStorage.snapshot();
    this.#end = this.#process.connect(address, port, (result) => {
      if (this.#isClosed) return;
      if (typeof result !== 'number') this.#attach(result);
      const status = typeof result === 'number' ? result : 0;
      context(() => request.oncomplete(status, this, request, status === 0, status === 0));
    });
    return 0;
  }

  readStart(): number {
    this.#isReading = true;
    this.#wake();
    return 0;
  }

  readStop(): number {
    this.#isReading = false;
    return 0;
  }

  writeBuffer(request: Request, bytes: Uint8Array): number {
    return this.#write(request, bytes);
  }

  writev(request: Request, chunks: readonly unknown[], areAllBuffers: boolean): number {
    const parts: Uint8Array[] = [];
    for (let at = 0; at < chunks.length; at += areAllBuffers ? 1 : 2) {
      const [chunk, encoding] = [chunks[at], String(chunks[at + 1])];
      if (chunk instanceof Uint8Array) parts.push(chunk);
      else parts.push(Buffer.from(String(chunk), Buffer.isEncoding(encoding) ? encoding : 'utf8'));
    }
    return this.#write(request, Buffer.concat(parts));
  }

  writeUtf8String(request: Request, text: string): number {
    return this.#write(request, Buffer.from(text, 'utf8'));
  }

  writeLatin1String(request: Request, text: string): number {
    return this.#write(request, Buffer.from(text, 'latin1'));
  }

  shutdown(request: Request): number {
    if (this.#end === undefined || this.#end.isDead) return ERRNO.ENOTCONN;
    this.#shutdown = { request, rest: new Uint8Array(), context: AsyncLocalStorage.snapshot() };
    this.#wake();
    return 0;
  }

  close(done?: () => void): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end?.close();
    this.#finish(done);
  }

  /** libuv cannot do it while an end is being sent. */
  reset(done: () => void): number {
    if (this.#isClosed) return 0;
    if (this.#shutdown !== undefined) return UV_EINVAL;
    this.#isClosed = true;
    this.#end?.reset();
    this.#finish(done);
    return 0;
  }

  getsockname(out: object): number {
    return this.#name(out, this.#end);
  }

  getpeername(out: object): number {
    return this.#end?.isDead ? ERRNO.ENOTCONN : this.#name(out, this.#end?.peer);
  }

  setNoDelay(): number {
    return 0;
  }

  setKeepAlive(isOn: boolean, seconds: number): number {
    this.#end?.keepAlive(isOn ? seconds * 1_000 : undefined);
    return 0;
  }

  setTypeOfService(): number {
    return 0;
  }

  ref(): void {}

  unref(): void {}

  hasRef(): boolean {
    return true;
  }

  #attach(end: TcpEnd): void {
    this.#end = end;
    end.onChange = () => this.#wake();
  }

  #name(out: object, end: TcpEnd | undefined): number {
    if (end === undefined) return ERRNO.ENOTCONN;
    Object.assign(out, { address: end.address, port: end.port, family: 'IPv4' });
    return 0;
  }

  #finish(done: (() => void) | undefined): void {
    const context = this.#context;
    for (const { request, context } of this.#writes.splice(0)) {
      this.#process.soon(() => context(() => request.oncomplete(UV_ECANCELED, this, undefined)));
    }
    this.#process.soon(() => context(() => done?.()));
  }

  #write(request: Request, bytes: Uint8Array): number {
    const end = this.#end;
    if (end === undefined) return ERRNO.ENOTCONN;
    const taken = this.#writes.length > 0 ? 0 : this.#give(end, bytes);
    if (taken < 0) return taken;
    this.bytesWritten += bytes.length;
    const isAsync = taken < bytes.length;
    if (isAsync) {
      this.#writes.push({ request, rest: bytes.subarray(taken), context: AsyncLocalStorage.snapshot() });
    }
    STREAM.state[STREAM.bytesWritten] = bytes.length;
    STREAM.state[STREAM.lastWriteWasAsync] = isAsync ? 1 : 0;
    return 0;
  }

  #give(end: TcpEnd, bytes: Uint8Array): number {
    const taken = end.write(bytes);
    const { peer } = end;
    if (taken > 0 && peer !== undefined) {
      this.#onSent?.({ address: peer.address, port: peer.port }, bytes.subarray(0, taken));
    }
    return taken;
  }

  /** One turn of the event loop for this socket. */
  #wake(): void {
    if (this.#isWaking || this.#isClosed) return;
    this.#isWaking = true;
    this.#process.soon(() => {
      this.#isWaking = false;
      if (this.#isClosed) return;
      this.#read();
      this.#writeOn();
    });
  }

  #read(): void {
    const end = this.#end;
    if (!this.#isReading || this.#isOver || end === undefined) return;
    const read = end.read(READ_BYTES);
    if (read === undefined) return;
    if (typeof read === 'number' || read === 'end') {
      this.#isOver = true;
      this.#isReading = false;
      return this.#tell(read === 'end' ? UV_EOF : read);
    }
    this.bytesRead += read.length;
    this.#tell(read.length, new Uint8Array(read).buffer);
    // Without a reader nothing happens then.
    if (end.isReadable) this.#wake();
  }

  #tell(result: number, data?: ArrayBuffer): void {
    this.#context(() => {
      STREAM.state[STREAM.readBytesOrError] = result;
      STREAM.state[STREAM.arrayBufferOffset] = 0;
      this.onread(data);
    });
  }

  #writeOn(): void {
    const end = this.#end;
    if (end === undefined) return;
    for (let [first] = this.#writes; first !== undefined && !this.#isClosed; [first] = this.#writes) {
      const taken = this.#give(end, first.rest);
      if (taken >= 0) first.rest = first.rest.subarray(taken);
      if (taken >= 0 && first.rest.length > 0) return;
      this.#writes.shift();
      first.context(() => first.request.oncomplete(Math.min(0, taken), this, undefined));
    }
    const shutdown = this.#shutdown;
    if (shutdown === undefined || this.#isClosed) return;
    this.#shutdown = undefined;
    const status = end.end();
    shutdown.context(() => shutdown.request.oncomplete(status));
  }
}
Object.setPrototypeOf(KernelHandle.prototype, TCP_PROTOTYPE);

/** The port of the host of a listening handle. */
export interface ListenPort {
  /** Returns an errno, or 0. */
  open(onConnection: (end: TcpEnd) => void): number;
  close(): void;
  readonly address: string;
  readonly port: number;
}

/** The handle below a server of Node. */
export class ListenHandle {
  onconnection: (error: number, client: KernelHandle) => void = () => {};
  readonly fd = -1;
  readonly #process: HandleProcess;
  readonly #port: ListenPort;
  readonly #context: Context = AsyncLocalStorage.snapshot();
  #isClosed = false;

  constructor(process: HandleProcess, port: ListenPort) {
    this.#process = process;
    this.#port = port;
  }

  getAsyncId(): number {
    return 0;
  }

  listen(): number {
    return this.#port.open((end) => {
      if (this.#isClosed) return end.reset();
      return this.#context(() => this.onconnection(0, new KernelHandle(this.#process, end)));
    });
  }

  getsockname(out: object): number {
    Object.assign(out, { address: this.#port.address, port: this.#port.port, family: 'IPv4' });
    return 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#port.close();
  }

  ref(): void {}

  unref(): void {}
}
Object.setPrototypeOf(ListenHandle.prototype, TCP_PROTOTYPE);
