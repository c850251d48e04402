// Each direction of a relay, and the way of each chunk: gate, taps, counters, pipe. One small object for each direction
// holds everything that a chunk touches: with many busy sessions, memory outside the processor's cache is most of the
// cost of a chunk.
import { nothing } from '../../model/once.ts';
import type { Traffic } from '../../reports/counts.ts';
import { WaitingBytes } from '../cancel/waiting-bytes.ts';
import type { Pipe, Receiver } from './stream-pipe.ts';
import type { ClientGate } from './stall-gate.ts';

/** Sees every chunk behind the first packet. */
export interface Taps {
  /** Before it is sent on. Returns how many bytes may be: the gate is closed for the rest. Undefined: all of them. */
  fromClient(chunk: Uint8Array): number | undefined;
  /** Before it is sent on. False: the client does not get it. */
  fromBackend(chunk: Uint8Array): boolean;
  /** After a chunk of the backend was sent on. */
  passedToClient(): void;
}

export interface DirectionOptions {
  readonly taps: Taps | undefined;
  /** Called before bytes of the client are forwarded. It may stop the relay. */
  readonly gate: ClientGate;
  /** The session's own counters and its pool's. */
  readonly traffic: Traffic;
  readonly poolTraffic: Traffic;
}

/** The bytes that wait behind the gate. */
interface GatedBytes {
  readonly bytes: WaitingBytes;
  /** To run behind them. */
  readonly ends: (() => void)[];
  isGateOpen: boolean;
  /** While the rest of a cancelled request is read: tells the client the end of its answer. */
  tell: ((bytes: Uint8Array) => void) | undefined;
}

const OPEN = Promise.resolve();
export class ToBackend implements Receiver {
  readonly #pipe: Pipe;
  readonly #taps: Taps | undefined;
  readonly #gate: ClientGate;
  readonly #traffic: Traffic;
  readonly #poolTraffic: Traffic;
  /** Set when it has stopped: takes the chunks that are on their way. */
  #onLate: ((chunk: Uint8Array) => void) | undefined;
  #kept: GatedBytes | undefined;

  constructor(pipe: Pipe, { taps, gate, traffic, poolTraffic }: DirectionOptions) {
    this.#pipe = pipe;
    this.#taps = taps;
    this.#gate = gate;
    this.#traffic = traffic;
    this.#poolTraffic = poolTraffic;
  }

  receive(chunk: Uint8Array): void {
    const wait = this.#gate();
    if (this.#onLate !== undefined) return this.#onLate(Uint8Array.from(chunk));
    if (wait !== undefined || this.#kept !== undefined) return this.#keep(chunk, wait);
    const passing = this.#taps?.fromClient(chunk);
    if (passing === undefined) this.send(chunk);
    else this.#divide(chunk, passing);
    return undefined;
  }

  /** Calls `run` when the bytes that wait have been sent: synchronously when there are none, or none will be sent. */
  whenSent(run: () => void): void {
    if (this.#kept === undefined || this.#kept.bytes.isCancelling()) run();
    else this.#kept.ends.push(run);
  }

  /** Chunks wait behind the gate. */
  isHolding(): boolean {
    return this.#kept !== undefined;
  }

  /** The taps do not see the chunk. */
  send(chunk: Uint8Array): void {
    this.count(chunk.length);
    this.#pipe.send(chunk);
  }

  count(bytes: number): void {
    this.#traffic.toBackendBytes += bytes;
    this.#poolTraffic.toBackendBytes += bytes;
  }

  /** Takes out the first statement that waits, and tells the client so, or `error`. False: there is none. */
  cancelWaiting(tell: (bytes: Uint8Array) => void, error?: Uint8Array): boolean {
    const kept = this.#kept;
    const answer = kept?.bytes.cancelFirst(error);
    if (kept === undefined || answer === undefined) return false;
    tell(answer);
    if (kept.bytes.isCancelling()) {
      kept.tell = tell;
      this.#pipe.resume();
      // The client has ended, so the rest of the statement never comes.
      for (const run of kept.ends.splice(0)) run();
    }
    return true;
  }

  /**
   * Nothing more is sent. Returns the bytes that wait. If the gate has called this, `onLate` is given the chunks
   * behind them that were on their way through the gate.
   */
  stop(onLate: (chunk: Uint8Array) => void = nothing): WaitingBytes | undefined {
    const bytes = this.#kept?.bytes;
    this.#onLate ??= onLate;
    this.#kept = undefined;
    return bytes;
  }

  #divide(chunk: Uint8Array, passing: number): void {
    if (passing > 0) this.send(chunk.subarray(0, passing));
    if (passing >= chunk.length) return undefined;
    const rest = chunk.subarray(passing);
    const wait = this.#gate();
    if (this.#onLate !== undefined) return this.#onLate(Uint8Array.from(rest));
    // The gate may have opened since the taps closed it.
    return this.#keep(rest, wait ?? OPEN);
  }

  #keep(chunk: Uint8Array, wait: Promise<void> | undefined): void {
    if (this.#kept !== undefined) return this.#add(this.#kept, chunk);
    this.#kept = { bytes: new WaitingBytes(), ends: [], isGateOpen: false, tell: undefined };
    this.#kept.bytes.add(chunk);
    this.#pipe.pause();
    return void wait?.then(this.#gateOpens);
  }

  #add(kept: GatedBytes, chunk: Uint8Array): void {
    const answer = kept.bytes.add(chunk);
    if (answer !== undefined) kept.tell?.(answer);
    if (kept.tell === undefined || kept.bytes.isCancelling()) return;
    kept.tell = undefined;
    this.#pipe.pause();
    if (kept.isGateOpen) this.#release(kept);
  }

  readonly #gateOpens = (): void => {
    const kept = this.#kept;
    if (kept === undefined) return;
    kept.isGateOpen = true;
    if (!kept.bytes.isCancelling()) this.#release(kept);
  };

  #release({ bytes, ends }: GatedBytes): void {
    this.#kept = undefined;
    this.#pipe.resume();
    if (bytes.length() > 0) this.receive(bytes.bytes());
    for (const run of ends) this.whenSent(run);
  }
}

export class ToClient implements Receiver {
  readonly #pipe: Pipe;
  readonly #taps: Taps | undefined;
  readonly #traffic: Traffic;
  readonly #poolTraffic: Traffic;

  constructor(pipe: Pipe, { taps, traffic, poolTraffic }: DirectionOptions) {
    this.#pipe = pipe;
    this.#taps = taps;
    this.#traffic = traffic;
    this.#poolTraffic = poolTraffic;
  }

  receive(chunk: Uint8Array): void {
    const taps = this.#taps;
    if (taps !== undefined && !taps.fromBackend(chunk)) return;
    this.send(chunk);
    taps?.passedToClient();
  }

  /** The taps do not see the chunk. */
  send(chunk: Uint8Array): void {
    this.#traffic.toClientBytes += chunk.length;
    this.#poolTraffic.toClientBytes += chunk.length;
    this.#pipe.send(chunk);
  }
}
