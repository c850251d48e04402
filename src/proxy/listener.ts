// The listening sockets: all of them or none, at the start and when a reload changes them. Accepting goes on whatever becomes of
// one connection; who may stay is not decided here, and never by server.maxConnections, which closes without a word.
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { addressText, isSameAddress } from '../core/member.ts';
import type { Address } from '../core/member.ts';
import type { ListenerPolicy, PoolName } from '../core/policy.ts';
import { SOCKET_OPTIONS, ignoreErrors } from './socket.ts';

export interface BoundListener {
  readonly pool: PoolName;
  /** The port is the real one, also when the policy asked for port 0. */
  readonly address: Address;
}

/** Nothing is bound, or nothing new. `message` names the address and the reason. */
export interface ListenFailure {
  readonly kind: 'failed';
  readonly address: Address;
  readonly message: string;
}

export interface ListenerChanges {
  readonly added: readonly BoundListener[];
  readonly removed: readonly BoundListener[];
}

export type PreparedListeners =
  | {
      readonly kind: 'prepared';
      /** The new ones accept, the vanished ones are closed, the others go on: in this step. Call this or `abandon`, once. */
      readonly apply: () => ListenerChanges;
      /** Closes the new ones. */
      readonly abandon: () => void;
    }
  | ListenFailure;

export interface ListenersInputs {
  readonly onConnection: (listener: BoundListener, client: Socket) => void;
  readonly onFailure: (pool: PoolName, detail: string) => void;
  /** Other processes listen there, too; the kernel shares the clients out. Whether anybody else does is not told then. */
  readonly isShared?: boolean;
  /** What this program listens on elsewhere. */
  readonly own?: () => readonly BoundListener[];
}

interface Listener {
  policy: ListenerPolicy;
  readonly server: Server;
  address: Address;
  /** Who connected before `apply`; undefined from then on. */
  early: Socket[] | undefined;
}

/** Connections the kernel completes for us while we are busy: a reconnect storm is one burst. */
const BACKLOG = 1024;

export class Listeners {
  readonly #inputs: ListenersInputs;
  #listeners: readonly Listener[] = [];
  #isClosed = false;

  constructor(inputs: ListenersInputs) {
    this.#inputs = inputs;
  }

  /** Binds the addresses that `wanted` has and we have not, all or none. What is bound stays as it is before `apply`. */
  async prepare(wanted: readonly ListenerPolicy[]): Promise<PreparedListeners> {
    const kept = keep(this.#listeners, wanted);
    const added: Listener[] = [];
    const abandon = (): void => {
      for (const listener of added) stop(listener);
    };
    for (const policy of wanted) {
      if (kept.has(policy)) continue;
      const bound = await this.#bind(policy);
      if (bound instanceof Error) {
        abandon();
        return { kind: 'failed', address: policy.address, message: this.#explain(policy.address, bound) };
      }
      added.push(bound);
    }
    return { kind: 'prepared', apply: () => this.#apply(kept, added), abandon };
  }

  isBound(address: Address): boolean {
    return this.#listeners.some((listener) => isSameAddress(listener.address, address));
  }

  /** Stops listening in this step; accepted connections stay. */
  close(): void {
    this.#isClosed = true;
    for (const listener of this.#listeners) stop(listener);
    this.#listeners = [];
  }

  #apply(kept: ReadonlyMap<ListenerPolicy, Listener>, added: readonly Listener[]): ListenerChanges {
    if (this.#isClosed) {
      for (const listener of added) stop(listener);
      return { added: [], removed: [] };
    }
    const stays = new Set(kept.values());
    const removed = this.#listeners.filter((listener) => !stays.has(listener));
    for (const listener of removed) stop(listener);
    for (const [policy, listener] of kept) listener.policy = policy;
    this.#listeners = [...stays, ...added];
    for (const listener of added) this.#admitEarly(listener);
    return { added: added.map(bound), removed: removed.map(bound) };
  }

  #explain(address: Address, { code, message }: NodeJS.ErrnoException): string {
    const text = addressText(address);
    const { own: elsewhere = () => [] } = this.#inputs;
    const own = [...this.#listeners, ...elsewhere()].find((listener) => listener.address.port === address.port);
    switch (code ?? '') {
      case 'EADDRINUSE':
        if (own === undefined) return `${text} is in use by another process`;
        return `${text} is in use by the listener ${addressText(own.address)}: take another port, or restart`;
      case 'EACCES':
        return `${text} may not be bound by this user: ports below 1024 need a privilege`;
      case 'EADDRNOTAVAIL':
        return `${text} is not an address of this machine`;
      case 'ENOTFOUND':
        return `${text} cannot be resolved`;
      default:
        return `${text} cannot be bound: ${message}`;
    }
  }

  #admitEarly(listener: Listener): void {
    const early = listener.early ?? [];
    listener.early = undefined;
    for (const client of early) {
      if (!client.destroyed) this.#inputs.onConnection(bound(listener), client);
    }
  }

  #bind(policy: ListenerPolicy): Promise<Listener | NodeJS.ErrnoException> {
    const { onConnection, onFailure, isShared = false } = this.#inputs;
    const { host, port } = policy.address;
    const server = createServer(SOCKET_OPTIONS, (client) => {
      if (listener.early === undefined) return onConnection(bound(listener), client);
      ignoreErrors(client);
      listener.early.push(client);
    });
    const listener: Listener = { policy, server, address: policy.address, early: [] };
    return new Promise((resolve) => {
      server.once('error', resolve);
      server.listen({ host, port, backlog: BACKLOG, reusePort: isShared }, () => {
        server.off('error', resolve).on('error', (error) => onFailure(listener.policy.pool, error.message));
        const at = server.address();
        if (at !== null && typeof at === 'object') listener.address = { host, port: at.port };
        resolve(listener);
      });
    });
  }
}

function bound({ policy, address }: Listener): BoundListener {
  return { pool: policy.pool, address };
}

function stop({ server, early }: Listener): void {
  server.close();
  for (const client of early ?? []) client.destroy();
}

/** Which of the listeners goes on for which policy: by address, whatever its pool; of several on port 0 the one of the same pool. */
export function keep<One extends { readonly policy: ListenerPolicy }>(
  listeners: readonly One[],
  wanted: readonly ListenerPolicy[],
): ReadonlyMap<ListenerPolicy, One> {
  const free = new Set(listeners);
  const kept = new Map<ListenerPolicy, One>();
  for (const isSamePool of [true, false]) {
    for (const policy of wanted) {
      if (kept.has(policy)) continue;
      const found = [...free].find(
        (listener) =>
          isSameAddress(listener.policy.address, policy.address) &&
          (!isSamePool || listener.policy.pool === policy.pool),
      );
      if (found === undefined) continue;
      kept.set(policy, found);
      free.delete(found);
    }
  }
  return kept;
}
