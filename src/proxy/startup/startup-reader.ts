// Reads a client until its hand-over: recognises its first packet and keeps every byte, in order, for the backend. It
// goes on reading while the client waits, because a paused Node socket does not report that its peer has left. A
// waiting client has no reason to send much, so its buffer is limited: beyond KEPT_BYTES the reading stops, and with it
// the notice of a leaving client. All clients together have a limit too (BufferedBytes).
import type { ProxySocket } from '../socket.ts';
import { recognise, type Recognition } from '../../wire/startup/startup.ts';
import { GrowingBuffer } from '../../wire/messages/growing-buffer.ts';

/** More than any startup packet. The rest of one read, 64 kB at most, stays in the socket's own buffer in addition. */
const KEPT_BYTES = 16 * 1024;

/** The bytes that all clients of this process have sent and no backend has taken yet. */
export class BufferedBytes {
  readonly #most: number;
  #bytes = 0;

  constructor(most = 16 * 1024 * 1024) {
    this.#most = most;
  }

  change(by: number): void {
    this.#bytes += by;
  }

  isOver(): boolean {
    return this.#bytes > this.#most;
  }
}

export interface PacketListener {
  /**
   * The first packet is recognised; called once, and again after each `skip`. More bytes may have arrived behind it.
   */
  readonly onPacket: (packet: Exclude<Recognition, { kind: 'need_more' }>) => void;
  /** More bytes behind the first packet. */
  readonly onMore?: () => void;
  /** The client sends nothing more (FIN). */
  readonly onEnd: () => void;
  /** The socket is closed. */
  readonly onClosed: () => void;
}

export class StartupReader {
  readonly #socket: ProxySocket;
  readonly #kept: BufferedBytes;
  #listener: PacketListener;
  readonly #buffer = new GrowingBuffer();
  /** Bytes beyond the limit that were given back to the socket. */
  #givenBack = 0;
  #isRecognised = false;
  #hasEnded = false;

  constructor(socket: ProxySocket, kept: BufferedBytes, listener: PacketListener) {
    this.#socket = socket;
    this.#kept = kept;
    this.#listener = listener;
  }

  start(): void {
    this.#socket.on('data', this.#received).on('end', this.#end).on('close', this.#close);
  }

  /** Events go to another listener from here on. */
  passTo(listener: PacketListener): void {
    this.#listener = listener;
  }

  /** The bytes received and not skipped; valid until the next chunk. */
  bytes(): Uint8Array {
    return this.#buffer.bytes();
  }

  length(): number {
    return this.#buffer.length();
  }

  hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * This client has filled its buffer, and all clients together are over their limit. Small clients are never refused
   * for it.
   */
  isTooMuch(): boolean {
    return this.length() >= KEPT_BYTES && this.#kept.isOver();
  }

  /** Drops an answered packet and recognises the next one. */
  skip(length: number): void {
    this.#kept.change(-length);
    const rest = this.bytes().subarray(length);
    this.#buffer.clear();
    this.#buffer.append(rest);
    this.#isRecognised = false;
    this.#recognise();
  }

  /** Stops listening. The socket is the caller's, who must listen to it synchronously. */
  release(): void {
    this.#kept.change(-this.length() - this.#givenBack);
    this.#buffer.clear();
    this.#givenBack = 0;
    this.#socket.off('data', this.#received).off('end', this.#end).off('close', this.#close);
  }

  readonly #received = (chunk: Uint8Array): void => {
    this.#kept.change(chunk.length);
    const room = KEPT_BYTES - this.length();
    this.#buffer.append(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length >= room) this.#socket.pause();
    if (chunk.length > room) {
      // A stream with unread bytes stops its handle at once; a paused one would read once more.
      this.#givenBack += chunk.length - room;
      this.#socket.unshift(chunk.subarray(room));
    }
    if (this.#isRecognised) this.#listener.onMore?.();
    else this.#recognise();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#listener.onEnd();
  };

  readonly #close = (): void => {
    this.#listener.onClosed();
    this.release();
  };

  #recognise(): void {
    const packet = recognise(this.bytes());
    if (packet.kind === 'need_more') return;
    this.#isRecognised = true;
    this.#listener.onPacket(packet);
  }
}
