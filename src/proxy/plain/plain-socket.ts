// A TCP connection without Node's streams: it reads, writes and ends on the handle itself, for a session's whole life.
// To the proxy it is what a socket of Node with `SOCKET_OPTIONS` is; the same tests hold for both. Node's streams take
// a fifth of a short session's processor time, most of it for ticks and objects that a relay has no use for.
import { Socket, type Server } from 'node:net';
import { ignoreErrors, SOCKET_OPTIONS, type ProxySocket } from '../socket.ts';
import {
  errnoFault,
  handleOf,
  INTERNALS,
  isTcpHandle,
  lastRead,
  tryWrite,
  type EndPoint,
  type HandleCall,
  type TcpHandle,
} from './internals.ts';
import { SocketEvents } from './socket-events.ts';

/** A read has met the end of the stream (libuv: UV_EOF). */
const END = -4095;
/** `shutdown`: the peer has closed already. */
const IS_CLOSED = 1;
const NOT_CONNECTED = -107;

/** All plain sockets are read into it, and what came is copied at once. */
const SHARED = new Uint8Array(64 * 1024);

/** One for all handles. */
interface OwnedHandle extends TcpHandle {
  plainSocket?: PlainSocket | undefined;
}

function onRead(this: OwnedHandle): undefined {
  this.plainSocket?.hasRead(lastRead());
}

export class PlainSocket extends SocketEvents implements ProxySocket {
  closed = false;
  connecting = false;
  destroyed = false;
  readableEnded = false;
  readableLength = 0;
  writableEnded = false;
  writableFinished = false;
  writableLength = 0;
  /** As a socket of Node has it, for the code that goes below both (`handleOf`). Undefined: closed. */
  private _handle: OwnedHandle | undefined;
  #bytesRead = 0;
  #peer: EndPoint | undefined;
  /** Bytes for a reader that does not read now. */
  #unread: Uint8Array[] | undefined;
  #isFlowing = false;
  #isPaused = false;
  #hasMetEnd = false;
  #isReadShared = false;
  /** 0: off. The system is told a change only, as Node does. */
  #keepAliveSeconds = 0;
  /** Node's socket, which has the handle now. */
  #node: Socket | undefined;

  private constructor(handle: TcpHandle) {
    super();
    this._handle = handle;
    this._handle.plainSocket = this;
    handle.onread = onRead;
    handle.setNoDelay(SOCKET_OPTIONS.noDelay);
  }

  /** A connection attempt to an IP address: `connect` follows, or `error` and `close`. */
  static connectTo(host: string, port: number): PlainSocket | undefined {
    if (INTERNALS === undefined) return undefined;
    const socket = new PlainSocket(INTERNALS.newTcp());
    socket.#connect(new INTERNALS.ConnectRequest(), host, port);
    return socket;
  }

  /**
   * From now on the clients of a server, which listens, come as plain sockets, and its `connection` event stays silent.
   * False: this Node has other internals, and the server is as it was.
   */
  static acceptAt(server: Server, onClient: (client: PlainSocket) => void): boolean {
    const handle = handleOf(server);
    const own: unknown =
      typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'onconnection') : undefined;
    if (INTERNALS === undefined || typeof own !== 'function') return false;
    const accept = (status: number, client?: unknown): unknown =>
      status === 0 && isTcpHandle(client)
        ? onClient(new PlainSocket(client))
        : Reflect.apply(own, handle, [status, client]);
    return Reflect.set(Object(handle), 'onconnection', accept);
  }

  get bytesRead(): number {
    return this.#node?.bytesRead ?? this._handle?.bytesRead ?? this.#bytesRead;
  }

  get writable(): boolean {
    return !this.destroyed && !this.writableEnded;
  }

  get writableNeedDrain(): boolean {
    return this.writableLength > 0 && this.writable;
  }

  get remoteAddress(): string | undefined {
    return this.#peerName().address;
  }

  get remotePort(): number | undefined {
    return this.#peerName().port;
  }

  get localAddress(): string | undefined {
    return this.#ownName().address;
  }

  get localPort(): number | undefined {
    return this.#ownName().port;
  }

  isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): this {
    this.#isPaused = true;
    this.#isFlowing = false;
    this.#readStop();
    return this;
  }

  resume(): this {
    this.#isPaused = false;
    if (this.destroyed) return this;
    if (!this.#isFlowing) {
      this.#isFlowing = true;
      // Not within the call, as with Node's streams.
      if (this.#unread !== undefined || this.#hasMetEnd) queueMicrotask(() => this.#flow());
    }
    if (!this.connecting) this.#readStart();
    return this;
  }

  push(bytes: Uint8Array): boolean {
    if (this.#isFlowing && this.#unread === undefined) {
      this.emitData(bytes);
      return true;
    }
    this.#keep('push', bytes);
    this.#readStop();
    return false;
  }

  unshift(bytes: Uint8Array): void {
    this.#keep('unshift', bytes);
  }

  /** Called by its handle only. */
  hasRead(length: number): void {
    if (length > 0) return void this.push(SHARED.slice(0, length));
    if (length === 0) return undefined;
    this.#readStop();
    if (length !== END) return this.destroy(errnoFault('read', length));
    this.#hasMetEnd = true;
    return this.#flow();
  }

  write(bytes: Uint8Array): boolean {
    const handle = this._handle;
    if (handle === undefined) return false;
    if (this.writableEnded || this.connecting) {
      this.destroy(new Error(this.connecting ? 'write before the connect' : 'write after the end'));
      return false;
    }
    const status = tryWrite(handle, bytes, (done) => this.#hasWritten(bytes.length, done));
    if (status === 0) return true;
    if (status < 0) this.destroy(errnoFault('write', status));
    else this.writableLength += bytes.length;
    return false;
  }

  end(bytes?: Uint8Array | (() => void)): this {
    if (typeof bytes === 'function') this.once('finish', bytes);
    else if (bytes !== undefined) this.write(bytes);
    if (this.writableEnded || this.destroyed) return this;
    this.writableEnded = true;
    if (this.writableLength === 0) this.#shutDown();
    return this;
  }

  destroy(error?: Error): void {
    this.#close(error, (handle, onClosed) => handle.close(onClosed));
  }

  destroySoon(): void {
    if (!this.writableEnded) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): void {
    this.#close(undefined, (handle, onClosed) => {
      // libuv cannot reset while it shuts the connection down.
      if (handle.reset(onClosed) !== 0) handle.close(onClosed);
    });
  }

  setKeepAlive(isOn: boolean, idleMs: number): this {
    const seconds = isOn ? Math.trunc(idleMs / 1000) : 0;
    if (this.#keepAliveSeconds === seconds) return this;
    this.#keepAliveSeconds = seconds;
    this._handle?.setKeepAlive(isOn, seconds);
    return this;
  }

  /**
   * A socket of Node for the same connection, paused if this one is. This one is over: it reports nothing more. Once it
   * has been read, only TLS can read from the other.
   */
  intoNode(): Socket {
    const handle = this._handle;
    if (handle === undefined) throw new Error('the connection is closed');
    handle.plainSocket = undefined;
    this._handle = undefined;
    this.destroyed = true;
    const how = { readable: true, writable: true, pauseOnCreate: this.#isPaused };
    const options: object = { ...SOCKET_OPTIONS, ...how, handle };
    const node = new Socket(options);
    ignoreErrors(node);
    for (const bytes of this.#unread?.toReversed() ?? []) node.unshift(bytes);
    this.#node = node;
    return node;
  }

  protected override readerCame(): void {
    if (!this.#isPaused) this.resume();
  }

  #connect(request: HandleCall, host: string, port: number): void {
    this.connecting = true;
    request.oncomplete = (status) => {
      if (this.destroyed) return undefined;
      this.connecting = false;
      if (status < 0) return this.destroy(errnoFault('connect', status));
      if (this.#isFlowing) this.#readStart();
      return this.emit('connect');
    };
    const error = host.includes(':')
      ? this._handle?.connect6(request, host, port)
      : this._handle?.connect(request, host, port);
    if (error !== undefined && error !== 0) queueMicrotask(() => this.destroy(errnoFault('connect', error)));
  }

  #keep(how: 'push' | 'unshift', bytes: Uint8Array): void {
    this.#unread ??= [];
    this.#unread[how](bytes);
    this.readableLength += bytes.length;
  }

  /** Gives the reader what waits for it, then the end. */
  #flow(): void {
    for (let bytes = this.#nextUnread(); bytes !== undefined; bytes = this.#nextUnread()) this.emitData(bytes);
    if (!this.#hasMetEnd || !this.#isFlowing || this.#unread !== undefined) return;
    if (this.readableEnded || this.destroyed) return;
    this.readableEnded = true;
    this.emit('end');
    if (this.writableFinished) this.destroy();
  }

  #nextUnread(): Uint8Array | undefined {
    if (!this.#isFlowing || this.destroyed) return undefined;
    const bytes = this.#unread?.shift();
    if (this.#unread?.length === 0) this.#unread = undefined;
    this.readableLength -= bytes?.length ?? 0;
    return bytes;
  }

  #readStart(): void {
    const handle = this._handle;
    if (handle === undefined || handle.reading === true || this.#hasMetEnd) return;
    // A pipe that reads the handle has its own buffer.
    if (!this.#isReadShared && handle.onread === onRead) {
      this.#isReadShared = true;
      handle.useUserBuffer(SHARED);
    }
    handle.reading = true;
    handle.readStart();
  }

  #readStop(): void {
    const handle = this._handle;
    if (handle?.reading !== true) return;
    handle.reading = false;
    handle.readStop();
  }

  #hasWritten(length: number, status: number): void {
    this.writableLength -= length;
    if (this.destroyed) return undefined;
    if (status < 0) return this.destroy(errnoFault('write', status));
    if (this.writableLength > 0) return undefined;
    return this.writableEnded ? this.#shutDown() : this.emit('drain');
  }

  #shutDown(): void {
    const handle = this._handle;
    if (INTERNALS === undefined || handle === undefined) return undefined;
    const request = new INTERNALS.ShutdownRequest();
    request.oncomplete = (status) => this.#hasShutDown(status);
    const status = handle.shutdown(request);
    if (status === IS_CLOSED || status < 0) this.#hasShutDown(status);
  }

  #hasShutDown(status: number): void {
    if (this.destroyed) return undefined;
    if (status < 0 && status !== NOT_CONNECTED) return this.destroy(errnoFault('shutdown', status));
    this.writableFinished = true;
    this.emit('finish');
    return this.readableEnded ? this.destroy() : undefined;
  }

  /** `error` comes with the next tick, and `close` when the handle is closed. */
  #close(error: Error | undefined, close: (handle: TcpHandle, onClosed: () => void) => void): void {
    const handle = this._handle;
    if (this.destroyed || handle === undefined) return;
    this.destroyed = true;
    this.#bytesRead = handle.bytesRead;
    this._handle = undefined;
    handle.plainSocket = undefined;
    close(handle, () => {
      this.closed = true;
      this.emit('close');
    });
    if (error !== undefined) queueMicrotask(() => this.emitError(error));
  }

  #peerName(): EndPoint {
    if (this.#peer !== undefined) return this.#peer;
    const peer: EndPoint = {};
    if (this._handle === undefined || this._handle.getpeername(peer) !== 0) return NOWHERE;
    this.#peer = peer;
    return peer;
  }

  #ownName(): EndPoint {
    const own: EndPoint = {};
    return this._handle !== undefined && this._handle.getsockname(own) === 0 ? own : NOWHERE;
  }
}

const NOWHERE: EndPoint = {};

/** The same connection as a socket of Node, which TLS needs. The caller must use it from now on. */
export function nodeSocket(socket: ProxySocket): Socket {
  if (socket instanceof PlainSocket) return socket.intoNode();
  if (socket instanceof Socket) return socket;
  throw new Error('neither a socket of Node nor a plain one');
}
