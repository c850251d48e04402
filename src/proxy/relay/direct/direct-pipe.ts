// One direction of a relay past Node's streams: read into a buffer, shown to the receiver, and written from the same buffer. While the
// sink waits for the kernel nothing is read. Small reads may wait for the end of the turn (`write-batch.ts`).
import type { PipeEnd, Reader } from './node-handle.ts';
import { StreamPipe } from '../stream-pipe.ts';
import type { Pipe, Receiver } from '../stream-pipe.ts';
import { readBuffers } from './read-buffers.ts';
import type { ReadBuffer } from './read-buffers.ts';
import type { WriteBatch } from './write-batch.ts';

const NOBODY: Receiver = { receive: () => {} };

export class DirectPipe implements Pipe, Reader {
  readonly #source: PipeEnd;
  readonly #sink: PipeEnd;
  readonly #batch: WriteBatch;
  /** What was read before, and what is sent before the sink's own queue is empty. */
  readonly #stream: StreamPipe;
  #receiver = NOBODY;
  /** Read into; undefined before the first time. */
  #buffer: ReadBuffer | undefined;
  /** Its bytes, while they are shown. */
  #shown: Uint8Array | undefined;
  /** The bytes that wait for the end of the turn. */
  #gathered: Uint8Array | undefined;
  /** Writes that the kernel did not take at once. */
  #waiting = 0;
  /** Ends the sink when nothing waits any more. */
  #end: (() => void) | undefined;

  constructor(source: PipeEnd, sink: PipeEnd, batch: WriteBatch) {
    this.#source = source;
    this.#sink = sink;
    this.#batch = batch;
    this.#stream = new StreamPipe(source.socket, sink.socket);
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#stream.start(receiver);
    this.#sink.whenWritten(this.#written);
    if (this.#sink.socket.writableLength === 0) this.#begin();
    else this.#sink.socket.once('drain', this.#begin);
  }

  send(bytes: Uint8Array): void {
    const buffer = this.#buffer;
    if (buffer === undefined) return this.#stream.send(bytes);
    this.flush();
    // A read that filled its buffer has more behind it, which libuv reads at once.
    const isLittle = bytes === this.#shown && !buffer.isLarge && bytes.length < buffer.bytes.length;
    if (!isLittle || this.#waiting > 0 || !this.#batch.isOpen()) return this.#write(bytes);
    this.#gathered = this.#batch.add(this, bytes);
    return undefined;
  }

  flush(): boolean {
    const bytes = this.#gathered;
    if (bytes === undefined) return this.#waiting === 0;
    this.#gathered = undefined;
    this.#write(bytes);
    return this.#waiting === 0;
  }

  /** A socket that was told to end cannot be reset before its bytes are written, so it is not told earlier. */
  whenFlushed(end: () => void): void {
    if (this.flush()) end();
    else this.#end = end;
  }

  /** As while a write waits for the kernel. */
  pause(): void {
    if (this.#buffer === undefined) this.#stream.pause();
    this.#stopReading();
  }

  resume(): void {
    this.#stream.resume();
    this.#waiting -= 1;
    this.#read();
  }

  discard(): void {
    this.#receiver = NOBODY;
    this.#stream.discard();
    this.#source.resume();
  }

  closed(): void {
    if (this.#buffer === undefined) return;
    if (this.#waiting > 0) readBuffers.forget(this.#buffer);
    else readBuffers.giveBack(this.#buffer);
    this.#buffer = undefined;
  }

  detach(): void {
    this.#sink.socket.off('drain', this.#begin);
    this.#stream.detach();
    this.#end = undefined;
    if (this.#buffer === undefined) return;
    readBuffers.forget(this.#buffer);
    // It may be in the middle of `read`, which gives back or lends no more then.
    this.#buffer = undefined;
    this.#gathered = undefined;
    const { socket } = this.#source;
    // A buffer of its own: the old one may wait at the sink.
    const buffer = readBuffers.small();
    const read = (length: number): undefined => {
      if (!socket.push(Uint8Array.from(buffer.filled(length)))) this.#source.pause();
    };
    this.#source.readInto(buffer.bytes, { read });
    this.#source.resume();
  }

  /** For the source alone. */
  read(length: number): Uint8Array | undefined {
    const read = this.#buffer;
    if (read === undefined) return undefined;
    const shown = read.filled(length);
    this.#shown = shown;
    this.#receiver.receive(shown);
    this.#shown = undefined;
    // Whoever took it may have ended everything.
    if (this.#buffer !== read || this.#waiting > 0) return undefined;
    const next = readBuffers.next(read, length);
    if (next === read) return undefined;
    this.#buffer = next;
    return next.bytes;
  }

  readonly #begin = (): void => {
    const { socket } = this.#source;
    const buffer = readBuffers.small();
    this.#buffer = buffer;
    this.#source.readInto(buffer.bytes, this);
    // Nothing comes as `data` any more.
    if (socket.readableLength === 0) this.#stream.detach();
    this.#read();
  };

  /** Unless something waits. */
  #read(): void {
    if (this.#waiting > 0 || this.#buffer === undefined) return;
    this.#source.socket.resume();
    this.#source.resume();
  }

  #write(bytes: Uint8Array): void {
    if (!this.#sink.write(bytes)) this.#stopReading();
  }

  #stopReading(): void {
    this.#waiting += 1;
    this.#source.pause();
    // What came as `data` is not read by the handle.
    if (this.#source.socket.readableLength > 0) this.#source.socket.pause();
  }

  readonly #written = (): void => {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    const end = this.#end;
    this.#end = undefined;
    end?.();
    if (this.#buffer === undefined) return;
    if (this.#source.socket.isPaused()) this.#source.socket.resume();
    this.#source.resume();
  };
}
