// The byte copy between client and backend, both ways: unaltered, in order, once, with half-close passed on and back-pressure.
// Owns both sockets from its start until it reports that both are closed, or is stopped. Knows nothing of sessions, tables or
// PostgreSQL: who wants to read along, or to keep something from the client, taps it.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../core/instant.ts';
import type { Greeted } from './greeting.ts';
import { Inflow } from './inflow.ts';
import { MemberSocket } from './member-socket.ts';
import type { ReadInto } from './reads-proof.ts';
import { resetSocket } from './socket.ts';

/** Monotonic byte counters, incremented on each chunk. */
export interface Traffic {
  toBackendBytes: number;
  toClientBytes: number;
}

export type RelayEnding = 'client-closed' | 'client-reset' | 'backend-closed' | 'backend-reset';

type Send = (chunk: Uint8Array) => void;

/** Shown every chunk behind the first packet. */
export interface Taps {
  /** Before the chunk is sent. */
  readonly toBackend: Send;
  /** In the place of sending it. */
  readonly toClient: (chunk: Uint8Array, send: Send) => void;
}

export interface RelayInputs {
  readonly client: Socket;
  readonly backend: Socket;
  /** What goes to the backend first. */
  readonly packet: Uint8Array | undefined;
  /** What the client sent besides. */
  readonly opening: Uint8Array;
  /** Set when `packet` was sent already. */
  readonly greeted?: Greeted | undefined;
  /** The client has half-closed already. */
  readonly hasClientEnded: boolean;
  readonly taps: Taps | undefined;
  /** For the client; false where Node is to read it. */
  readonly readInto: ReadInto;
  /** Called before anything of the client is forwarded; may stop the relay. */
  readonly judge: () => void;
  /** The session's own counters and its pool's. */
  readonly traffic: Traffic;
  readonly poolTraffic: Traffic;
  readonly clock: Clock;
  /** Both sockets are closed; which side began it. */
  readonly onEnded: (ending: RelayEnding) => void;
}

/** How long a client may still read what a reset backend had said. */
const FLUSH_MS = 5_000;
/** How long a client may stay silent, half-open, after the backend's end (PostgreSQL itself never half-closes). */
const HALF_OPEN_MS = 60_000;

const nothing = (): void => {};

export class Relay {
  readonly #inputs: RelayInputs;
  readonly #toBackend: Send;
  readonly #toClient: Send;
  /** Undefined: the socket is read by Node. */
  readonly #fromBackend: Inflow | undefined;
  #fromClient: Inflow | undefined;
  #ending: RelayEnding | undefined;
  #open = 2;
  #cancelTimer = nothing;
  #isStopped = false;

  constructor(inputs: RelayInputs) {
    const { taps } = inputs;
    this.#inputs = inputs;
    this.#fromBackend = inputs.backend instanceof MemberSocket ? inputs.backend.inflow : undefined;
    this.#toClient = taps === undefined ? this.#sendToClient : (chunk) => taps.toClient(chunk, this.#sendToClient);
    this.#toBackend = (chunk) => {
      inputs.judge();
      if (this.#isStopped) return;
      taps?.toBackend(chunk);
      this.#sendToBackend(chunk);
    };
  }

  /** Call once. */
  start(): void {
    const { client, backend, packet, opening, greeted, hasClientEnded } = this.#inputs;
    client.on('data', this.#toBackend).on('drain', this.#resumeBackend);
    client.on('end', this.#endOfClient).on('error', this.#clientFailed).on('close', this.#closed);
    backend.on('data', this.#toClient).on('drain', this.#resumeClient);
    backend.on('end', this.#endOfBackend).on('error', this.#backendFailed).on('close', this.#closed);
    this.#readIntoBuffers();
    client.resume();
    backend.resume();
    if (packet !== undefined && greeted === undefined) this.#sendToBackend(packet);
    if (packet !== undefined && greeted !== undefined) count(this.#inputs, 'toBackendBytes', packet);
    if (greeted !== undefined && greeted.words.length > 0) this.#toClient(greeted.words);
    if (this.#isStopped) return;
    if (opening.length > 0) this.#toBackend(opening);
    if (hasClientEnded) this.#endOfClient();
  }

  /** Lets go of both sockets, which are the caller's again: nothing more is copied or told. Idempotent. */
  stop(): void {
    const { client, backend } = this.#inputs;
    this.#isStopped = true;
    this.#cancelTimer();
    client.off('data', this.#toBackend).off('drain', this.#resumeBackend);
    client.off('end', this.#endOfClient).off('error', this.#clientFailed).off('close', this.#closed);
    backend.off('data', this.#toClient).off('drain', this.#resumeClient);
    backend.off('end', this.#endOfBackend).off('error', this.#backendFailed).off('close', this.#closed);
    this.#fromClient?.abandon();
    this.#fromBackend?.abandon();
  }

  /** What arrived before still comes as `data`, and before anything that comes from here on. */
  #readIntoBuffers(): void {
    const { client, backend, readInto } = this.#inputs;
    // TLS says late that it has written, so waiting for it would stop every read: what it gets are copies.
    if (client instanceof TLSSocket) return this.#fromBackend?.flow();
    this.#fromBackend?.flowInto(client, this.#toClient);
    const inflow = new Inflow();
    if (!readInto(client, inflow)) return undefined;
    inflow.flowInto(backend, this.#toBackend);
    this.#fromClient = inflow;
    return undefined;
  }

  // `drain` comes after each write; what the kernel took at once paused nobody.
  readonly #resumeBackend = (): void => {
    const { backend } = this.#inputs;
    if (backend.isPaused()) backend.resume();
  };

  readonly #resumeClient = (): void => {
    const { client } = this.#inputs;
    if (client.isPaused()) client.resume();
  };

  readonly #endOfClient = (): void => {
    this.#ending ??= 'client-closed';
    this.#inputs.backend.end();
  };

  readonly #endOfBackend = (): void => {
    this.#ending ??= 'backend-closed';
    this.#inputs.client.end();
    this.#watch();
  };

  readonly #clientFailed = (): void => {
    this.#ending ??= 'client-reset';
    resetSocket(this.#inputs.backend);
  };

  readonly #backendFailed = (): void => {
    const { client, clock } = this.#inputs;
    this.#ending ??= 'backend-reset';
    this.#cancelTimer();
    this.#cancelTimer = clock.schedule(FLUSH_MS, () => client.destroy());
    client.off('data', this.#toBackend).resume();
    this.#fromClient?.discard();
    client.destroySoon();
  };

  readonly #closed = (): void => {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#cancelTimer();
    this.#fromClient?.closed();
    this.#fromBackend?.closed();
    this.#inputs.onEnded(this.#ending ?? 'backend-closed');
  };

  #watch(): void {
    const { client, backend, traffic, clock } = this.#inputs;
    const seenBytes = traffic.toBackendBytes;
    this.#cancelTimer = clock.schedule(HALF_OPEN_MS, () => {
      if (traffic.toBackendBytes !== seenBytes) return this.#watch();
      for (const socket of [backend, client]) socket.destroy();
    });
  }

  readonly #sendToBackend = (chunk: Uint8Array): void => {
    const { client, backend } = this.#inputs;
    count(this.#inputs, 'toBackendBytes', chunk);
    if (!backend.write(chunk) && backend.writableLength > 0) client.pause();
  };

  readonly #sendToClient = (chunk: Uint8Array): void => {
    const { client, backend } = this.#inputs;
    count(this.#inputs, 'toClientBytes', chunk);
    if (!client.write(chunk) && client.writableLength > 0) backend.pause();
  };
}

function count({ traffic, poolTraffic }: RelayInputs, direction: keyof Traffic, { length }: Uint8Array): void {
  traffic[direction] += length;
  poolTraffic[direction] += length;
}
