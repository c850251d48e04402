// One direction of a relay, from a source to a sink: in order, once, and never more of it in this process than one read. This one goes
// the documented way, by Node's streams; `direct-lane.ts` is the cheaper one. Whoever takes the bytes decides what goes on.
import type { Socket } from 'node:net';

export interface Taker {
  /** The bytes are the taker's until it returns, and until they are written if it sends them. */
  take(bytes: Uint8Array): void;
}

export interface Lane {
  /** From now on what the source says is taken. Call once. */
  flow(taker: Taker): void;
  /** To the sink. While it waits the source is not read. */
  send(bytes: Uint8Array): void;
  /** The source is not read until `release`. Not twice. */
  hold(): void;
  release(): void;
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
  leave(): void;
}

export interface Lanes {
  readonly toBackend: Lane;
  readonly toClient: Lane;
}

/** Of two connected sockets. */
export type OpenLanes = (client: Socket, backend: Socket) => Lanes;

export const openStreamLanes: OpenLanes = (client, backend) => ({
  toBackend: new StreamLane(client, backend),
  toClient: new StreamLane(backend, client),
});

export class StreamLane implements Lane {
  readonly #source: Socket;
  readonly #sink: Socket;
  #take = (_bytes: Uint8Array): void => {};
  #isHeld = false;

  constructor(source: Socket, sink: Socket) {
    this.#source = source;
    this.#sink = sink;
  }

  flow(taker: Taker): void {
    this.#take = (bytes) => taker.take(bytes);
    this.#source.on('data', this.#take);
    this.#sink.on('drain', this.#resume);
    if (!this.#isHeld && !this.#sink.writableNeedDrain) this.#source.resume();
  }

  send(bytes: Uint8Array): void {
    if (!this.#sink.write(bytes) && this.#sink.writableLength > 0) this.#source.pause();
  }

  hold(): void {
    this.#isHeld = true;
    this.#source.pause();
  }

  release(): void {
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

  leave(): void {
    this.#source.off('data', this.#take);
    this.#sink.off('drain', this.#resume);
  }

  // `drain` comes after each write; what the kernel took at once paused nobody.
  readonly #resume = (): void => {
    if (!this.#isHeld && this.#source.isPaused()) this.#source.resume();
  };
}
