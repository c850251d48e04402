// The byte copy between client and backend, both ways: unaltered, in order, once, with half-close passed on and back-pressure.
// Owns both sockets from its start until it reports that both are closed. Knows nothing of sessions, tables or PostgreSQL.
import type { Socket } from 'node:net';
import type { Clock } from '../core/instant.ts';
import type { Greeted } from './greeting.ts';
import { resetSocket } from './socket.ts';

/** Monotonic byte counters, incremented on each chunk. */
export interface Traffic {
  toBackendBytes: number;
  toClientBytes: number;
}

export type RelayEnding = 'client-closed' | 'client-reset' | 'backend-closed' | 'backend-reset';

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

export function startRelay(inputs: RelayInputs): void {
  const { client, backend, traffic, clock, onEnded } = inputs;
  let ending: RelayEnding | undefined;
  let open = 2;
  let cancelTimer = nothing;

  const toBackend = (chunk: Uint8Array): void => {
    count(inputs, 'toBackendBytes', chunk);
    if (!backend.write(chunk)) client.pause();
  };
  const toClient = (chunk: Uint8Array): void => {
    count(inputs, 'toClientBytes', chunk);
    if (!client.write(chunk)) backend.pause();
  };
  const endOfClient = (): void => {
    ending ??= 'client-closed';
    backend.end();
  };
  const endOfBackend = (): void => {
    ending ??= 'backend-closed';
    client.end();
    watch(traffic.toBackendBytes);
  };
  const watch = (seenBytes: number): void => {
    const look = (): void => {
      if (traffic.toBackendBytes !== seenBytes) return watch(traffic.toBackendBytes);
      for (const socket of [backend, client]) socket.destroy();
    };
    cancelTimer = clock.schedule(HALF_OPEN_MS, look);
  };
  const clientFailed = (): void => {
    ending ??= 'client-reset';
    resetSocket(backend);
  };
  const backendFailed = (): void => {
    ending ??= 'backend-reset';
    cancelTimer();
    cancelTimer = clock.schedule(FLUSH_MS, () => client.destroy());
    client.off('data', toBackend).resume();
    client.destroySoon();
  };
  const closed = (): void => {
    open -= 1;
    if (open > 0) return;
    cancelTimer();
    onEnded(ending ?? 'backend-closed');
  };

  client.on('data', toBackend).on('drain', () => backend.resume());
  client.on('end', endOfClient).on('error', clientFailed).on('close', closed);
  backend.on('data', toClient).on('drain', () => client.resume());
  backend.on('end', endOfBackend).on('error', backendFailed).on('close', closed);

  client.resume();
  backend.resume();
  const { packet, greeted, opening } = inputs;
  if (packet !== undefined && greeted === undefined) toBackend(packet);
  if (packet !== undefined && greeted !== undefined) count(inputs, 'toBackendBytes', packet);
  if (greeted !== undefined && greeted.words.length > 0) toClient(greeted.words);
  if (opening.length > 0) toBackend(opening);
  if (inputs.hasClientEnded) endOfClient();
}

function count({ traffic, poolTraffic }: RelayInputs, direction: keyof Traffic, { length }: Uint8Array): void {
  traffic[direction] += length;
  poolTraffic[direction] += length;
}
