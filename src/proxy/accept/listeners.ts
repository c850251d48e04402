// The listening sockets, bound here or inherited (systemd's socket activation): all of them or none, at the start and
// when a reload changes them. A fault of one connection never stops the accepting. Limits are admission's matter, and
// never those of server.maxConnections, which closes without an answer.
import { createServer, type BlockList } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isIn, networks, normalizeAddress } from '../../discovery/never-contacted.ts';
import { isSameAddress, type Address } from '../../model/member.ts';
import type { ListenerPolicy, PoolName } from '../../model/policy.ts';
import type { CreateServer, InheritedSocket } from '../options.ts';
import { SOCKET_OPTIONS, type ProxySocket } from '../socket.ts';
import { isUnixSocket } from '../../model/unix-socket.ts';
import { explainAdoption, explainBind, explainUnknownSocket } from './bind-failure.ts';
import { BACKLOG, ListeningSocket, openFile } from './listening-socket.ts';

export interface BoundListener {
  readonly pool: PoolName;
  /** The port is the real one, also when the policy asked for port 0. */
  readonly address: Address;
}

/** Nothing is bound, or nothing new. `message` names the address and the reason. */
export interface ListenFailure {
  readonly kind: 'failed';
  readonly message: string;
}

export interface ListenerChanges {
  readonly added: readonly BoundListener[];
  readonly removed: readonly BoundListener[];
}

export type PreparedListeners =
  | {
      readonly kind: 'prepared';
      /** Synchronously opens the new ones and closes the vanished ones. Call this or `abandon`, once. */
      readonly apply: () => ListenerChanges;
      /** Closes the new ones. */
      readonly abandon: () => void;
    }
  | ListenFailure;

export interface ListenersOptions {
  /** `awaitsHeader`: the client is a load balancer that names its own client first (PROXY protocol). */
  readonly onConnection: (listener: BoundListener, client: ProxySocket, awaitsHeader: boolean) => void;
  readonly onFailure: (pool: PoolName, detail: string) => void;
  /**
   * Other processes of ours listen there too, and the kernel shares the clients out. A foreign process goes unnoticed
   * then.
   */
  readonly isShared?: boolean;
  /** Listeners of this program elsewhere, to name them in a failure. */
  readonly own?: () => readonly BoundListener[];
  /** Each must be bound to the address of a listener, which then does not bind for itself. */
  readonly inherited?: readonly InheritedSocket[] | undefined;
  /** Default: of this machine. */
  readonly createServer?: CreateServer | undefined;
  /** Clients of TCP come as plain sockets. Default: as sockets of Node. */
  readonly arePlain?: () => boolean;
}

interface Listener {
  policy: ListenerPolicy;
  /** Load balancers that send the header of the PROXY protocol. */
  proxies: BlockList | undefined;
  readonly socket: ListeningSocket;
}

/** More turns of the event loop than a full queue needs if each turn takes one connection. */
const MAX_TURNS = 2 * BACKLOG;

export class Listeners {
  readonly #options: ListenersOptions;
  readonly #inherited: InheritedSocket[];
  #listeners: readonly Listener[] = [];
  #isClosed = false;
  #isServing = false;
  /** Clients so far. */
  #accepted = 0;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#inherited = [...(options.inherited ?? [])];
  }

  /**
   * Binds the addresses of `wanted` that are not bound yet, all or none. Bound listeners stay as they are until
   * `apply`.
   */
  async prepare(wanted: readonly ListenerPolicy[]): Promise<PreparedListeners> {
    const kept = matchListeners(this.#listeners, wanted);
    const added: Listener[] = [];
    const abandon = (): void => {
      for (const { socket } of added) socket.close();
    };
    const failed = (message: string): ListenFailure => {
      abandon();
      return { kind: 'failed', message };
    };
    for (const inherited of this.#inherited.splice(0)) {
      const adopted = await this.#adopt(inherited, wanted);
      if (typeof adopted === 'string') return failed(adopted);
      added.push(adopted);
    }
    const isAdopted = (policy: ListenerPolicy): boolean => added.some((listener) => listener.policy === policy);
    for (const policy of wanted) {
      if (kept.has(policy) || isAdopted(policy)) continue;
      const bound = await this.#bind(policy);
      if (typeof bound === 'string') return failed(bound);
      added.push(bound);
    }
    return { kind: 'prepared', apply: () => this.#apply(kept, added), abandon };
  }

  /** Calls `onConnection` from now on, first for the clients that wait. Call once. */
  serve(): void {
    this.#isServing = true;
    for (const listener of this.#listeners) this.#serve(listener);
  }

  isBound(address: Address): boolean {
    return this.#listeners.some(({ socket }) => isSameAddress(socket.address, address));
  }

  /**
   * Accepts the connections that the kernel has completed by now, then stops listening: a close resets those that are
   * still in a queue. Only connections that arrive between the last look into the queues and the close are lost, which
   * takes microseconds.
   */
  async closeWhenTaken(): Promise<void> {
    // The first turn may have looked into the queues before this began.
    await nextTurn();
    for (let turns = 0; turns < MAX_TURNS; turns += 1) {
      const before = this.#accepted;
      await nextTurn();
      if (this.#accepted === before) break;
    }
    this.close();
  }

  /** Stops listening synchronously; accepted connections stay. */
  close(): void {
    this.#isClosed = true;
    for (const { socket } of this.#listeners) socket.close();
    this.#listeners = [];
  }

  #apply(kept: ReadonlyMap<ListenerPolicy, Listener>, added: readonly Listener[]): ListenerChanges {
    if (this.#isClosed) {
      for (const { socket } of added) socket.close();
      return { added: [], removed: [] };
    }
    const stays = new Set(kept.values());
    const removed = this.#listeners.filter((listener) => !stays.has(listener));
    for (const { socket } of removed) socket.close();
    for (const [policy, listener] of kept) Object.assign(listener, settings(policy));
    this.#listeners = [...stays, ...added];
    for (const listener of added) this.#open(listener);
    return { added: added.map(bound), removed: removed.map(bound) };
  }

  async #bind(policy: ListenerPolicy): Promise<Listener | string> {
    const { address, reusePort = false } = policy;
    const { host, port } = address;
    const { isShared = false, own: elsewhere = () => [], createServer: make = createServer } = this.#options;
    const options = { host, port, reusePort: reusePort || isShared };
    const socket = isUnixSocket(address)
      ? await openFile(policy)
      : await ListeningSocket.open(make(SOCKET_OPTIONS), options, host);
    if (!(socket instanceof Error)) return this.#listener(policy, socket);
    const here = this.#listeners.map(bound);
    const own = [...here, ...elsewhere()].find((listener) => listener.address.port === port);
    return explainBind({ address, reusePort, error: socket, own: own?.address });
  }

  async #adopt(inherited: InheritedSocket, wanted: readonly ListenerPolicy[]): Promise<Listener | string> {
    const socket = await ListeningSocket.open(createServer(SOCKET_OPTIONS), { fd: inherited.fd });
    if (socket instanceof Error) return explainAdoption(inherited, socket);
    const policy = wanted.find(({ address }) => isSameAddress(address, socket.address));
    if (policy !== undefined) return this.#listener(policy, socket);
    socket.close();
    const addresses = wanted.map(({ address }) => address);
    return explainUnknownSocket(inherited, socket.address, addresses);
  }

  #listener(policy: ListenerPolicy, socket: ListeningSocket): Listener {
    const listener: Listener = { ...settings(policy), socket };
    socket.onError((error) => this.#options.onFailure(listener.policy.pool, error.message));
    return listener;
  }

  #open(listener: Listener): void {
    const problem = listener.socket.publish();
    if (problem !== undefined) this.#options.onFailure(listener.policy.pool, problem.message);
    if (this.#isServing) this.#serve(listener);
  }

  #serve(listener: Listener): void {
    listener.socket.acceptWith(this.#options.arePlain?.() === true, (client) => {
      this.#accepted += 1;
      this.#options.onConnection(bound(listener), client, isProxy(listener, client));
    });
  }
}

function settings(policy: ListenerPolicy): Pick<Listener, 'policy' | 'proxies'> {
  return { policy, proxies: policy.proxyNetworks && networks(policy.proxyNetworks) };
}

function isProxy({ proxies }: Listener, { remoteAddress = '' }: ProxySocket): boolean {
  const address = proxies && normalizeAddress(remoteAddress);
  return proxies !== undefined && address !== undefined && isIn(proxies, address);
}

function bound({ policy, socket }: Listener): BoundListener {
  return { pool: policy.pool, address: socket.address };
}

/**
 * The listener that stays for each policy: the one with the same address; of several on port 0 the one of the same pool
 * first.
 */
export function matchListeners<One extends { readonly policy: ListenerPolicy }>(
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
