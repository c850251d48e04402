// Reads a client until it is handed over: recognises its first packet and keeps every byte for the backend, in order, once.
// It goes on reading while the client waits, because a paused Node socket does not report that its peer has left; a client
// that waits has nothing to say, so what it may pipeline is bounded: beyond KEPT_BYTES reading stops, and with it that notice.
// All clients together have a bound too (KeptBytes).
import type { Socket } from 'node:net';
import { recognise } from '../../wire/startup.ts';
import type { Recognition } from '../../wire/startup.ts';

/**
 * More than any opening packet. On top comes the rest of one read, 64 kB at most, which stays in the socket's own
 * buffer.
 */
const KEPT_BYTES = 16 * 1024;
const NOTHING = new Uint8Array(0);

/** What all clients of this process said that nobody has taken yet. One that says little is never refused for it. */
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

export interface StartupReaderListener {
  /** The first packet is known; called once, and again after each `skip`. Bytes behind it may have arrived too. */
  readonly onPacket: (packet: Exclude<Recognition, { kind: 'need_more' }>) => void;
  /** More bytes behind the first packet. */
  readonly onMore?: () => void;
  /** The client sends no more (FIN). */
  readonly onEnd: () => void;
  /** The socket is closed. */
  readonly onClosed: () => void;
}

export class StartupReader {
  readonly #socket: Socket;
  readonly #kept: BufferedBytes;
  #listener: StartupReaderListener;
  #buffer: Uint8Array = NOTHING;
  #length = 0;
  /** What was read beyond the bound and given back to the socket. */
  #givenBack = 0;
  #isRecognised = false;
  #hasEnded = false;

  constructor(socket: Socket, kept: BufferedBytes, listener: StartupReaderListener) {
    this.#socket = socket;
    this.#kept = kept;
    this.#listener = listener;
  }

  start(): void {
    this.#socket.on('data', this.#take).on('end', this.#end).on('close', this.#close);
  }

  /** Another one wants to know from here on. */
  passTo(listener: StartupReaderListener): void {
    this.#listener = listener;
  }

  /** Everything received and not skipped; valid until the next chunk. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  length(): number {
    return this.#length;
  }

  hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** It said as much as may be kept, and all clients together said more than that. */
  isTooMuch(): boolean {
    return this.#length >= KEPT_BYTES && this.#kept.isOver();
  }

  /** Drops an answered packet and looks for the next one. */
  skip(length: number): void {
    this.#kept.change(-length);
    this.#buffer = length === this.#length ? NOTHING : this.#buffer.slice(length, this.#length);
    this.#length = this.#buffer.length;
    this.#isRecognised = false;
    this.#look();
  }

  /** Listens and keeps no more: the socket is another's from here on, and must be listened to in the same step. */
  release(): void {
    this.#kept.change(-this.#length - this.#givenBack);
    this.#buffer = NOTHING;
    this.#length = 0;
    this.#givenBack = 0;
    this.#socket.off('data', this.#take).off('end', this.#end).off('close', this.#close);
  }

  readonly #take = (chunk: Uint8Array): void => {
    this.#kept.change(chunk.length);
    const room = KEPT_BYTES - this.#length;
    this.#append(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length >= room) this.#socket.pause();
    if (chunk.length > room) {
      // A stream that has something unread stops its handle at once; a paused one would read once more.
      this.#givenBack += chunk.length - room;
      this.#socket.unshift(chunk.subarray(room));
    }
    if (this.#isRecognised) this.#listener.onMore?.();
    else this.#look();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#listener.onEnd();
  };

  readonly #close = (): void => {
    this.#listener.onClosed();
    this.release();
  };

  #look(): void {
    const packet = recognise(this.bytes());
    if (packet.kind === 'need_more') return;
    this.#isRecognised = true;
    this.#listener.onPacket(packet);
  }

  /** Doubles its room, so that a client that sends one byte at a time costs linear time. */
  #append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#buffer = chunk;
    } else {
      if (length > this.#buffer.length) {
        const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
        larger.set(this.bytes());
        this.#buffer = larger;
      }
      this.#buffer.set(chunk, this.#length);
    }
    this.#length = length;
  }
}
