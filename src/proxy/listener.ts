// The listening sockets: all of them or none. Accepting goes on whatever becomes of one connection; who may stay is not decided
// here, and never by server.maxConnections, which closes without a word.
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Address } from '../core/member.ts';
import type { ListenerPolicy, PoolName } from '../core/policy.ts';
import { SOCKET_OPTIONS, addressText } from './socket.ts';

export interface BoundListener {
  readonly pool: PoolName;
  /** The port is the real one, also when the policy asked for port 0. */
  readonly address: Address;
}

export type ListenResult =
  | { readonly kind: 'listening'; readonly listeners: readonly BoundListener[] }
  /** Nothing is bound. `message` names the address and the reason. */
  | { readonly kind: 'failed'; readonly address: Address; readonly message: string };

export interface ListenersInputs {
  readonly policies: readonly ListenerPolicy[];
  readonly onConnection: (pool: PoolName, client: Socket) => void;
  readonly onFailure: (pool: PoolName, detail: string) => void;
}

/** Connections the kernel completes for us while we are busy: a reconnect storm is one burst. */
const BACKLOG = 1024;

export class Listeners {
  readonly #inputs: ListenersInputs;
  #servers: Server[] = [];

  constructor(inputs: ListenersInputs) {
    this.#inputs = inputs;
  }

  async listen(): Promise<ListenResult> {
    const listeners: BoundListener[] = [];
    for (const policy of this.#inputs.policies) {
      const bound = await this.#bind(policy);
      if (bound instanceof Error) {
        this.close();
        return { kind: 'failed', address: policy.address, message: explain(policy.address, bound) };
      }
      listeners.push(bound);
    }
    return { kind: 'listening', listeners };
  }

  /** Stops listening in this step; accepted connections stay. */
  close(): void {
    for (const server of this.#servers) server.close();
    this.#servers = [];
  }

  #bind({ address, pool }: ListenerPolicy): Promise<BoundListener | NodeJS.ErrnoException> {
    const { onConnection, onFailure } = this.#inputs;
    const server = createServer(SOCKET_OPTIONS, (client) => onConnection(pool, client));
    return new Promise((resolve) => {
      server.once('error', resolve);
      server.listen({ host: address.host, port: address.port, backlog: BACKLOG }, () => {
        server.off('error', resolve).on('error', (error) => onFailure(pool, error.message));
        this.#servers.push(server);
        const bound = server.address();
        const port = typeof bound === 'object' ? (bound?.port ?? address.port) : address.port;
        resolve({ pool, address: { host: address.host, port } });
      });
    });
  }
}

function explain(address: Address, { code, message }: NodeJS.ErrnoException): string {
  const text = addressText(address);
  switch (code ?? '') {
    case 'EADDRINUSE':
      return `${text} is in use by another process`;
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
