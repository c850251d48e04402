// One direction of a relay past Node's streams. Bytes are read into a buffer and shown to the receiver. Many bytes are
// written from the same buffer, few from a copy, because all sessions read into one small buffer. While the kernel has
// not taken a write, nothing is read. Small writes may wait for the end of the turn (`write-batch.ts`). README.md has
// the states, and what this class relies on.
import { keepingStep } from '../../fault.ts';
import type { PipeEnd, HandleSink } from './node-handle.ts';
import { StreamPipe, type Pipe, type Receiver } from '../stream-pipe.ts';
import { readBuffers, type ReadBuffer } from './read-buffers.ts';
import type { WriteBatch } from './write-batch.ts';

const NO_RECEIVER: Receiver = { receive: () => {} };

export class DirectPipe implements Pipe, HandleSink {
  readonly #source: PipeEnd;
  readonly #sink: PipeEnd;
  readonly #batch: WriteBatch;
  /** For bytes that Node had read before, and for what is sent until the sink's own queue is empty. */
  #usedStream: StreamPipe | undefined;
  #receiver = NO_RECEIVER;
  /** The source is read into it. Undefined before direct reading begins, and after the end. */
  #buffer: ReadBuffer | undefined;
  /** The view that the receiver has at this moment. */
  #shown: Uint8Array | undefined;
  /** The bytes that wait in the batch. */
  #batched: Uint8Array | undefined;
  /** Writes that the kernel has not finished, plus one while the pipe is paused. Above 0 nothing is read. */
  #waiting = 0;
  /** Ends the sink when no write waits any more. */
  #end: (() => void) | undefined;
  /** In the step of the session that opened the pipe. */
  readonly failed = keepingStep((error: unknown): void => {
    throw error;
  });

  constructor(source: PipeEnd, sink: PipeEnd, batch: WriteBatch) {
    this.#source = source;
    this.#sink = sink;
    this.#batch = batch;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#sink.whenWritten(this.#written);
    const isSinkEmpty = this.#sink.socket.writableLength === 0;
    if (!isSinkEmpty || this.#source.socket.readableLength > 0) this.#stream().start(receiver);
    if (isSinkEmpty) this.#begin();
    else this.#sink.socket.once('drain', this.#begin);
  }

  send(bytes: Uint8Array): void {
    const buffer = this.#buffer;
    // Node's stream may keep the bytes for later.
    if (buffer === undefined) return this.#stream().send(readBuffers.isShared(bytes) ? Uint8Array.from(bytes) : bytes);
    this.flush();
    // Behind a read that filled its buffer there is more, which libuv reads at once.
    const isSmall = bytes === this.#shown && !buffer.isLarge && bytes.length < buffer.bytes.length;
    if (!isSmall || this.#waiting > 0 || !this.#batch.isOpen()) return this.#write(bytes);
    this.#batched = this.#batch.add(this, bytes);
    return undefined;
  }

  flush(): boolean {
    const bytes = this.#batched;
    if (bytes === undefined) return this.#waiting === 0;
    this.#batched = undefined;
    this.#write(bytes);
    return this.#waiting === 0;
  }

  /** Node cannot reset a socket that was told to end while bytes wait, so the sink is not told before. */
  whenFlushed(end: () => void): void {
    if (this.flush()) end();
    else this.#end = end;
  }

  /** Counts as a write that waits for the kernel. */
  pause(): void {
    if (this.#buffer === undefined) this.#stream().pause();
    this.#stopReading();
  }

  resume(): void {
    this.#usedStream?.resume();
    this.#waiting -= 1;
    this.#read();
  }

  discard(): void {
    this.#receiver = NO_RECEIVER;
    this.#stream().discard();
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
    this.#usedStream?.detach();
    this.#end = undefined;
    if (this.#buffer === undefined) return;
    readBuffers.forget(this.#buffer);
    // `read` may be under way below this call: it sees that the buffer is gone, and neither gives back nor lends one.
    this.#buffer = undefined;
    this.#batched = undefined;
    const { socket } = this.#source;
    // Bytes of a large one may still wait at the sink.
    const buffer = readBuffers.small();
    const read = (length: number): undefined => {
      if (!socket.push(Uint8Array.from(buffer.filled(length)))) this.#source.pause();
    };
    this.#source.readInto(buffer.bytes, { read });
    this.#source.resume();
  }

  /** Called by the source's handle only. The receiver may call any method of this pipe before it returns. */
  read(length: number): Uint8Array | undefined {
    const read = this.#buffer;
    if (read === undefined) return undefined;
    const shown = read.filled(length);
    this.#shown = shown;
    this.#receiver.receive(shown);
    this.#shown = undefined;
    // The receiver may have detached or closed the pipe, or its write waits.
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
    // Nothing arrives as `data` any more.
    if (socket.readableLength === 0) this.#usedStream?.detach();
    this.#read();
  };

  /** Does nothing while a write waits. */
  #read(): void {
    if (this.#waiting > 0 || this.#buffer === undefined) return;
    this.#source.socket.resume();
    this.#source.resume();
  }

  #stream(): StreamPipe {
    return (this.#usedStream ??= new StreamPipe(this.#source.socket, this.#sink.socket));
  }

  #write(bytes: Uint8Array): void {
    const isShared = readBuffers.isShared(bytes);
    if (this.#sink.write(isShared ? readBuffers.out(bytes) : bytes)) return;
    if (isShared) readBuffers.outWaits();
    this.#stopReading();
  }

  #stopReading(): void {
    this.#waiting += 1;
    this.#source.pause();
    // Bytes that Node had read arrive as `data`, which the handle does not stop.
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
