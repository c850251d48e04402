// What becomes of each chunk of a relay: judged, shown to who reads along, counted, sent. One small object a direction holds all that
// is touched for it: with many sessions at work what is not in the processor's cache is most of the cost of a chunk.
import type { Pipe, Receiver } from './stream-pipe.ts';
import type { Gate } from './stall-gate.ts';

/** Monotonic byte counters, incremented on each chunk. */
export interface Traffic {
  toBackendBytes: number;
  toClientBytes: number;
}

/** Shown every chunk behind the first packet. */
export interface Taps {
  /** Before it is sent on. */
  fromClient(chunk: Uint8Array): void;
  /** Before it is sent on; false: it is kept from the client. */
  fromBackend(chunk: Uint8Array): boolean;
  /** What the backend said has been sent on. */
  passedToClient(): void;
}

export interface DirectionInputs {
  readonly taps: Taps | undefined;
  /** Called before anything of the client is forwarded; may stop the relay. */
  readonly gate: Gate;
  /** The session's own counters and its pool's. */
  readonly traffic: Traffic;
  readonly poolTraffic: Traffic;
}

export class ToBackend implements Receiver {
  readonly #pipe: Pipe;
  readonly #taps: Taps | undefined;
  readonly #gate: Gate;
  readonly #traffic: Traffic;
  readonly #poolTraffic: Traffic;
  #isStopped = false;
  /** What waits for the members to be asked again, and what is to happen behind it. */
  #kept: { readonly chunks: Uint8Array[]; readonly ends: (() => void)[] } | undefined;

  constructor(pipe: Pipe, { taps, gate, traffic, poolTraffic }: DirectionInputs) {
    this.#pipe = pipe;
    this.#taps = taps;
    this.#gate = gate;
    this.#traffic = traffic;
    this.#poolTraffic = poolTraffic;
  }

  receive(chunk: Uint8Array): void {
    const wait = this.#gate();
    if (this.#isStopped) return;
    if (wait !== undefined || this.#kept !== undefined) return this.#keep(chunk, wait);
    this.#taps?.fromClient(chunk);
    this.send(chunk);
    return undefined;
  }

  /** Runs at once, or when what waits has been sent. */
  whenSent(run: () => void): void {
    if (this.#kept === undefined) run();
    else this.#kept.ends.push(run);
  }

  /** Not shown. */
  send(chunk: Uint8Array): void {
    this.count(chunk.length);
    this.#pipe.send(chunk);
  }

  count(bytes: number): void {
    this.#traffic.toBackendBytes += bytes;
    this.#poolTraffic.toBackendBytes += bytes;
  }

  /** Nothing goes on any more. */
  stop(): void {
    this.#isStopped = true;
    this.#kept = undefined;
  }

  #keep(chunk: Uint8Array, wait: Promise<void> | undefined): void {
    const copy = Uint8Array.from(chunk);
    if (this.#kept !== undefined) return void this.#kept.chunks.push(copy);
    this.#kept = { chunks: [copy], ends: [] };
    this.#pipe.pause();
    return void wait?.then(this.#release);
  }

  readonly #release = (): void => {
    const kept = this.#kept;
    if (kept === undefined) return;
    this.#kept = undefined;
    this.#pipe.resume();
    for (const chunk of kept.chunks) this.receive(chunk);
    for (const run of kept.ends) this.whenSent(run);
  };
}

export class ToClient implements Receiver {
  readonly #pipe: Pipe;
  readonly #taps: Taps | undefined;
  readonly #traffic: Traffic;
  readonly #poolTraffic: Traffic;

  constructor(pipe: Pipe, { taps, traffic, poolTraffic }: DirectionInputs) {
    this.#pipe = pipe;
    this.#taps = taps;
    this.#traffic = traffic;
    this.#poolTraffic = poolTraffic;
  }

  receive(chunk: Uint8Array): void {
    const taps = this.#taps;
    if (taps !== undefined && !taps.fromBackend(chunk)) return;
    this.#traffic.toClientBytes += chunk.length;
    this.#poolTraffic.toClientBytes += chunk.length;
    this.#pipe.send(chunk);
    taps?.passedToClient();
  }
}
