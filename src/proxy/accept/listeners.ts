// The listening sockets: all of them or none, at the start and when a reload changes them. Accepting goes on whatever becomes of
// one connection; who may stay is not decided here, and never by server.maxConnections, which closes without a word.
import type { Server, Socket } from 'node:net';
import { isSameAddress } from '../../model/member.ts';
import type { Address } from '../../model/member.ts';
import type { ListenerPolicy, PoolName } from '../../model/policy.ts';
import { createDoor } from './door.ts';
import type { Door } from './door.ts';
import {
  BACKLOG,
  bindSocket,
  explainBind,
  explainUnknownSocket,
  explainAdoption,
  adoptSocket,
} from './listening-socket.ts';
import type { InheritedSocket, ListeningSocket } from './listening-socket.ts';

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
  /** Each must be bound to the address of a listener, which then does not bind for itself. */
  readonly inherited?: readonly InheritedSocket[] | undefined;
}

interface Listener {
  policy: ListenerPolicy;
  readonly server: Server;
  readonly address: Address;
  readonly door: Door;
}

/** More turns of the event loop than a full queue needs, should it take in one connection in each. */
const MOST_TURNS = 2 * BACKLOG;

export class Listeners {
  readonly #inputs: ListenersInputs;
  readonly #inherited: InheritedSocket[];
  #listeners: readonly Listener[] = [];
  #isClosed = false;
  /** How many clients so far. */
  #taken = 0;

  constructor(inputs: ListenersInputs) {
    this.#inputs = inputs;
    this.#inherited = [...(inputs.inherited ?? [])];
  }

  /** Binds the addresses that `wanted` has and we have not, all or none. What is bound stays as it is before `apply`. */
  async prepare(wanted: readonly ListenerPolicy[]): Promise<PreparedListeners> {
    const kept = matchListeners(this.#listeners, wanted);
    const added: Listener[] = [];
    const abandon = (): void => {
      for (const listener of added) stop(listener);
    };
    const failed = (message: string): ListenFailure => {
      abandon();
      return { kind: 'failed', message };
    };
    for (const inherited of this.#inherited.splice(0)) {
      const taken = await this.#take(inherited, wanted);
      if (typeof taken === 'string') return failed(taken);
      added.push(taken);
    }
    const isTaken = (policy: ListenerPolicy): boolean => added.some((listener) => listener.policy === policy);
    for (const policy of wanted) {
      if (kept.has(policy) || isTaken(policy)) continue;
      const bound = await this.#bind(policy);
      if (typeof bound === 'string') return failed(bound);
      added.push(bound);
    }
    return { kind: 'prepared', apply: () => this.#apply(kept, added), abandon };
  }

  isBound(address: Address): boolean {
    return this.#listeners.some((listener) => isSameAddress(listener.address, address));
  }

  /**
   * Takes in whom the kernel has completed by now, then stops listening: closing resets who is still in a queue. Nobody comes between the
   * last look into the queues and the close but who arrives in these microseconds.
   */
  async closeWhenTaken(): Promise<void> {
    // The first turn may have looked into the queues before this began.
    await nextTurn();
    for (let turns = 0; turns < MOST_TURNS; turns += 1) {
      const before = this.#taken;
      await nextTurn();
      if (this.#taken === before) break;
    }
    this.close();
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
    for (const listener of added) this.#open(listener);
    return { added: added.map(bound), removed: removed.map(bound) };
  }

  async #bind(policy: ListenerPolicy): Promise<Listener | string> {
    const { address, reusePort = false } = policy;
    const { isShared = false, own: elsewhere = () => [] } = this.#inputs;
    const door = createDoor();
    const socket = await bindSocket(address, reusePort || isShared, door.onClient);
    if (!(socket instanceof Error)) return this.#listener(policy, socket, door);
    const own = [...this.#listeners, ...elsewhere()].find((listener) => listener.address.port === address.port);
    return explainBind({ address, reusePort, error: socket, own: own?.address });
  }

  async #take(inherited: InheritedSocket, wanted: readonly ListenerPolicy[]): Promise<Listener | string> {
    const door = createDoor();
    const socket = await adoptSocket(inherited, door.onClient);
    if (socket instanceof Error) return explainAdoption(inherited, socket);
    const policy = wanted.find(({ address }) => isSameAddress(address, socket.address));
    if (policy !== undefined) return this.#listener(policy, socket, door);
    socket.server.close();
    door.shut();
    return explainUnknownSocket(
      inherited,
      socket.address,
      wanted.map(({ address }) => address),
    );
  }

  #listener(policy: ListenerPolicy, { server, address }: ListeningSocket, door: Door): Listener {
    const listener: Listener = { policy, server, address, door };
    server.on('error', (error) => this.#inputs.onFailure(listener.policy.pool, error.message));
    return listener;
  }

  #open(listener: Listener): void {
    listener.door.open((client) => {
      this.#taken += 1;
      this.#inputs.onConnection(bound(listener), client);
    });
  }
}

function bound({ policy, address }: Listener): BoundListener {
  return { pool: policy.pool, address };
}

function stop({ server, door }: Listener): void {
  server.close();
  door.shut();
}

/** Resolves at the end of a turn of the event loop, behind its look at the sockets. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Which of the listeners goes on for which policy: by address, whatever its pool; of several on port 0 the one of the same pool. */
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
