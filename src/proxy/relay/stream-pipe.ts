// A pipe is one direction of a relay, from a source to a sink: every byte in order, once, and never more of it in this
// process than one read. This file has the contract, and the pipe that uses Node's streams, as documented.
// `direct/` has the cheaper one. The receiver of the bytes decides what is sent on.
import type { ProxySocket } from '../socket.ts';

export interface Receiver {
  /** The receiver may use the bytes until it returns. It may send them: the pipe keeps what it has to write later. */
  receive(bytes: Uint8Array): void;
}

export interface Pipe {
  /** Gives the bytes of the source to `receiver` from now on. Call once. */
  start(receiver: Receiver): void;
  /** Writes to the sink. While bytes wait, the source is not read. */
  send(bytes: Uint8Array): void;
  /** Stops reading the source until `resume`. Not to be called twice. */
  pause(): void;
  resume(): void;
  /** Gives sent bytes that wait in this process to the kernel, as far as the kernel takes them. */
  flush(): void;
  /**
   * Calls `end` once, when the sink can be ended behind everything that was sent: synchronously when nothing waits.
   */
  whenFlushed(end: () => void): void;
  /** Drops the bytes of the source from now on. */
  discard(): void;
  /** The source and the sink have both closed. */
  closed(): void;
  /** Lets go of both sockets: further bytes arrive as `data`. Bytes that wait in this process are dropped. */
  detach(): void;
}

export interface PipePair {
  readonly toBackend: Pipe;
  readonly toClient: Pipe;
}

/** Opens the pipes between two connected sockets. */
export type OpenPipes = (client: ProxySocket, backend: ProxySocket) => PipePair;

export const openStreamPipes: OpenPipes = (client, backend) => ({
  toBackend: new StreamPipe(client, backend),
  toClient: new StreamPipe(backend, client),
});

export class StreamPipe implements Pipe {
  readonly #source: ProxySocket;
  readonly #sink: ProxySocket;
  #take = (_bytes: Uint8Array): void => {};
  #isHeld = false;

  constructor(source: ProxySocket, sink: ProxySocket) {
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

  /** A stream ends behind the bytes that wait in it. */
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

  // `drain` comes after every write, also after one that paused nothing.
  readonly #resume = (): void => {
    if (!this.#isHeld && this.#source.isPaused()) this.#source.resume();
  };
}
