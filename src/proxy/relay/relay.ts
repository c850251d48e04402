// Owns both sockets of a session from `start` until both are closed or `stop` is called. Copies the bytes between them
// both ways: unaltered, in order, once, with half-close passed on and with back-pressure. Knows nothing of sessions,
// tables or PostgreSQL. A tap can read along, and can keep a chunk from the client.
import type { StartupHandOver } from '../startup/client-startup.ts';
import type { BackendEnding, RelayEnding } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { WaitingBytes } from '../cancel/waiting-bytes.ts';
import { ToBackend, ToClient, type DirectionOptions } from './directions.ts';
import type { FirstReply } from '../connect/first-reply.ts';
import type { PipePair } from './stream-pipe.ts';
import { closeSocket, hasVanished, resetSocket, type ProxySocket } from '../socket.ts';

export interface RelayOptions extends DirectionOptions {
  readonly client: ProxySocket;
  readonly backend: ProxySocket;
  readonly pipes: PipePair;
  readonly clock: Clock;
  /** The backend ends by itself, because of what the client has sent. */
  readonly isBackendLeaving: () => boolean;
  /** The backend ended before the client. True: the caller has stopped this relay and ends both sockets. */
  readonly onBackendEnded: (ending: BackendEnding) => boolean;
  /** Both sockets are closed; `ending` tells which side began. */
  readonly onEnded: (ending: RelayEnding) => void;
}

/** How a relay begins. It is not kept, because nothing of it is needed later. */
export interface RelayOpening extends Pick<StartupHandOver, 'hasEnded' | 'packet' | 'bytes'> {
  /** Set when `packet` was sent already. */
  readonly firstReply?: FirstReply | undefined;
}

/** How long a backend may take to end by itself before it is told the client's end. Milliseconds. */
const LEAVING_MS = 1_000;
/** How long a client may still read the bytes of a backend that was reset. Milliseconds. */
const FLUSH_MS = 5_000;
/** How long a client may take to read the bytes of a backend that has ended. Milliseconds. */
const UNREAD_MS = 60_000;
/** How long a client that has read them may then stay silent. PostgreSQL itself never half-closes. Milliseconds. */
const HALF_OPEN_MS = 10_000;

export class Relay {
  readonly #options: RelayOptions;
  readonly #toBackend: ToBackend;
  readonly #toClient: ToClient;
  #ending: RelayEnding | undefined;
  #open = 2;
  #cancelTimer = nothing;
  /** The backend has all of the client, and is not told its end yet. */
  #isLeft = false;
  #isStopped = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#toBackend = new ToBackend(options.pipes.toBackend, options);
    this.#toClient = new ToClient(options.pipes.toClient, options);
  }

  /** Call once. */
  start({ packet, bytes, firstReply, hasEnded }: RelayOpening): void {
    const { client, backend, pipes } = this.#options;
    client.on('end', this.#endOfClient).on('error', this.#clientFailed).on('close', this.#clientClosed);
    backend.on('end', this.#endOfBackend).on('error', this.#backendFailed).on('close', this.#backendClosed);
    // No pipe brings bytes before this turn is over.
    pipes.toBackend.start(this.#toBackend);
    pipes.toClient.start(this.#toClient);
    if (packet !== undefined && firstReply === undefined) this.#toBackend.send(packet);
    if (packet !== undefined && firstReply !== undefined) this.#toBackend.count(packet.length);
    if (firstReply !== undefined && firstReply.bytes.length > 0) this.#toClient.receive(firstReply.bytes);
    if (bytes.length > 0 && !this.#isStopped) this.#toBackend.receive(bytes);
    if (hasEnded && !this.#isStopped) this.#endOfClient();
  }

  /** Neither side has ended. */
  isWhole(): boolean {
    return this.#ending === undefined && !this.#isStopped;
  }

  /** The client has half-closed, and all that it sent before is with the backend. */
  hasAllOfClient(): boolean {
    return this.#ending === 'client_closed' && !this.#toBackend.isHolding();
  }

  /** Sends bytes of ours to the backend, past gate and taps. They must stay as they are. */
  tellBackend(bytes: Uint8Array): void {
    this.#options.pipes.toBackend.send(bytes);
  }

  /** Sends bytes to the client that its tap has kept. They must stay as they are. */
  tellClient(bytes: Uint8Array): void {
    this.#toClient.send(bytes);
  }

  /** Takes out the first statement of the client that waits, and tells it so, or `error`. False: there is none. */
  cancelWaiting(error?: Uint8Array): boolean {
    return this.#toBackend.cancelWaiting((bytes) => this.tellClient(bytes), error);
  }

  /**
   * Gives both sockets back to the caller: nothing more is copied or reported. Idempotent. Returns the client's bytes
   * that waited at the gate; `onLate` is given those that were just on their way through it.
   */
  stop(onLate?: (chunk: Uint8Array) => void): WaitingBytes | undefined {
    const { client, backend, pipes } = this.#options;
    if (this.#isStopped) return undefined;
    this.#isStopped = true;
    const waiting = this.#toBackend.stop(onLate);
    this.#cancelTimer();
    client.off('end', this.#endOfClient).off('error', this.#clientFailed).off('close', this.#clientClosed);
    backend.off('end', this.#endOfBackend).off('error', this.#backendFailed).off('close', this.#backendClosed);
    // The client's last bytes are dropped; it may still read the bytes of the backend.
    pipes.toClient.flush();
    pipes.toClient.detach();
    pipes.toBackend.detach();
    return waiting;
  }

  readonly #endOfClient = (): void => {
    this.#ending ??= 'client_closed';
    const { pipes } = this.#options;
    this.#toBackend.whenSent(() => pipes.toBackend.whenFlushed(this.#endToBackend));
  };

  /** One system call and one packet less in nearly every session. */
  readonly #endToBackend = (): void => {
    const { backend, clock, isBackendLeaving } = this.#options;
    if (backend.readableEnded || !isBackendLeaving()) return void backend.end();
    this.#isLeft = true;
    this.#cancelTimer();
    this.#cancelTimer = clock.schedule(LEAVING_MS, () => backend.end());
  };

  readonly #endOfBackend = (): void => {
    if (this.#hasBackendEnded('backend_closed')) return;
    const { client, backend, pipes } = this.#options;
    if (this.#isLeft) closeSocket(backend);
    pipes.toClient.whenFlushed(() => {
      // A client that has half-closed sends nothing more: the close alone tells it the end.
      if (client.readableEnded && client.writableLength === 0) closeSocket(client);
      else client.end(() => this.#watch(HALF_OPEN_MS));
    });
    if (!client.destroyed) this.#watch(UNREAD_MS);
  };

  readonly #clientFailed = (error?: Error): void => {
    this.#ending ??= hasVanished(error) ? 'client_tcp_timeout' : 'client_reset';
    this.#toBackend.stop();
    resetSocket(this.#options.backend);
  };

  readonly #backendFailed = (error?: Error): void => {
    if (this.#hasBackendEnded(hasVanished(error) ? 'backend_tcp_timeout' : 'backend_reset')) return;
    const { client, clock, pipes } = this.#options;
    this.#toBackend.stop();
    this.#cancelTimer();
    this.#cancelTimer = clock.schedule(FLUSH_MS, () => client.destroy());
    pipes.toBackend.discard();
    pipes.toClient.whenFlushed(() => client.destroySoon());
  };

  /** True: the caller has taken over. */
  #hasBackendEnded(how: BackendEnding): boolean {
    if (this.#ending !== undefined) return false;
    this.#ending = how;
    return this.#options.onBackendEnded(how);
  }

  readonly #clientClosed = (): void => this.#closed(this.#options.client, this.#clientFailed);
  readonly #backendClosed = (): void => this.#closed(this.#options.backend, this.#backendFailed);

  /** The first close ends the other side too: at once when no end came before it, else when all bytes are written. */
  #closed(socket: ProxySocket, failed: () => void): void {
    this.#open -= 1;
    if (this.#open > 0 && this.#isLeft) this.#options.backend.end();
    if (this.#open > 0) return socket.readableEnded ? this.#watch(UNREAD_MS) : failed();
    this.#cancelTimer();
    this.#toBackend.stop();
    this.#options.pipes.toBackend.closed();
    this.#options.pipes.toClient.closed();
    this.#options.onEnded(this.#ending ?? 'backend_closed');
  }

  #watch(limitMs: number): void {
    const { client, backend, traffic, clock } = this.#options;
    // Destroyed sockets close by themselves.
    if (this.#isStopped || this.#open === 0 || (client.destroyed && backend.destroyed)) return;
    const seenBytes = traffic.toBackendBytes;
    this.#cancelTimer();
    this.#cancelTimer = clock.schedule(limitMs, () => {
      if (traffic.toBackendBytes !== seenBytes) return this.#watch(limitMs);
      for (const socket of [backend, client]) socket.destroy();
    });
  }
}
