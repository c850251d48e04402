// One direction of a relay, from a source to a sink: in order, once, and never more of it in this process than one read. This one goes
// the documented way, by Node's streams; `direct-pipe.ts` is the cheaper one. Whoever takes the bytes decides what goes on.
import type { Socket } from 'node:net';

export interface Receiver {
  /** The bytes are the receiver's until it returns, and until they are written if it sends them. */
  receive(bytes: Uint8Array): void;
}

export interface Pipe {
  /** From now on what the source says is taken. Call once. */
  start(receiver: Receiver): void;
  /** To the sink. While it waits the source is not read. */
  send(bytes: Uint8Array): void;
  /** The source is not read until `release`. Not twice. */
  pause(): void;
  resume(): void;
  /** What was sent and still waits here is given to the kernel now, as far as the kernel takes it. */
  flush(): void;
  /**
   * Calls `end` once, when the sink can be told to end behind everything that was sent: in this step if nothing waits.
   */
  whenFlushed(end: () => void): void;
  /** What the source says from now on is thrown away. */
  discard(): void;
  /** The source and the sink have closed. */
  closed(): void;
  /** Both are others' now: what comes from now on is `data`. What waited here is dropped. */
  detach(): void;
}

export interface PipePair {
  readonly toBackend: Pipe;
  readonly toClient: Pipe;
}

/** Of two connected sockets. */
export type OpenPipes = (client: Socket, backend: Socket) => PipePair;

export const openStreamPipes: OpenPipes = (client, backend) => ({
  toBackend: new StreamPipe(client, backend),
  toClient: new StreamPipe(backend, client),
});

export class StreamPipe implements Pipe {
  readonly #source: Socket;
  readonly #sink: Socket;
  #take = (_bytes: Uint8Array): void => {};
  #isHeld = false;

  constructor(source: Socket, sink: Socket) {
    this.#source = source;
    this.#sink = sink;
  }

  start(receiver: Receiver): void {
    this.#take = (bytes) => receiver.receive(bytes);
    this.#source.on('data', this.#take);
    this.#sink.on('drain', this.#resume);
    if (!this.#isHeld && !this.#sink.writableNeedDrain) this.#source.resume();
  }

  send(bytes: Uint8Array): void {
    if (!this.#sink.write(bytes) && this.#sink.writableLength > 0) this.#source.pause();
  }

  pause(): void {
    this.#isHeld = true;
    this.#source.pause();
  }

  resume(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (!this.#sink.writableNeedDrain) this.#resume();
  }

  flush(): void {}

  /** The stream itself ends behind what waits. */
  whenFlushed(end: () => void): void {
    end();
  }

  discard(): void {
    this.#source.off('data', this.#take).resume();
  }

  closed(): void {}

  detach(): void {
    this.#source.off('data', this.#take);
    this.#sink.off('drain', this.#resume);
  }

  // `drain` comes after each write; what the kernel took at once paused nobody.
  readonly #resume = (): void => {
    if (!this.#isHeld && this.#source.isPaused()) this.#source.resume();
  };
}
