// Owns the cancel keys of the live sessions that can be read, of all listeners. A key is looked for only among the keys
// of its process id, and it is compared with each of them in constant time.
import { isSameKey, type CancelKey } from '../../wire/messages/cancel-key.ts';
import type { Server } from '../server.ts';

/** A session whose client may send cancel requests. */
export interface CancelTarget {
  /** True: a statement that waited was cancelled, or none runs. False: the request is for the server. */
  takesCancel(): boolean;
}

/** The key of one session. `add` returns it, and `remove` takes it. */
export interface KeyEntry {
  /** As its client was told. */
  readonly key: CancelKey;
  /** Another one after the session has moved. */
  current: CancelKey;
  server: Server;
  readonly session: CancelTarget;
  /** In its chain. */
  next: KeyEntry | undefined;
}

const FEWEST_CHAINS = 64;

/** A hash table of its own, because of what a Map costs whose entries come and go (proxy/linked-list.ts). */
export class CancelKeys {
  /** By the low bits of the process id. */
  #chains: (KeyEntry | undefined)[] = noChains(FEWEST_CHAINS);
  #size = 0;

  add(key: CancelKey, server: Server, session: CancelTarget): KeyEntry {
    if (this.#size === this.#chains.length) this.#double();
    const keyed: KeyEntry = { key, current: key, server, session, next: undefined };
    this.#insert(keyed);
    this.#size += 1;
    return keyed;
  }

  /** Later calls do nothing. */
  remove(keyed: KeyEntry): void {
    const chain = this.#chainOf(keyed.key);
    let before: KeyEntry | undefined;
    let at = this.#chains[chain];
    while (at !== undefined && at !== keyed) {
      before = at;
      at = at.next;
    }
    if (at === undefined) return;
    if (before === undefined) this.#chains[chain] = keyed.next;
    else before.next = keyed.next;
    keyed.next = undefined;
    this.#size -= 1;
  }

  /** The session whose client has that key. */
  find(key: CancelKey): KeyEntry | undefined {
    let found: KeyEntry | undefined;
    for (let keyed = this.#chains[this.#chainOf(key)]; keyed !== undefined; keyed = keyed.next) {
      if (keyed.key.processId === key.processId && isSameKey(keyed.key, key)) found = keyed;
    }
    return found;
  }

  size(): number {
    return this.#size;
  }

  #chainOf({ processId }: CancelKey): number {
    return processId & (this.#chains.length - 1);
  }

  #insert(keyed: KeyEntry): void {
    const chain = this.#chainOf(keyed.key);
    keyed.next = this.#chains[chain];
    this.#chains[chain] = keyed;
  }

  #double(): void {
    const before = this.#chains;
    this.#chains = noChains(2 * before.length);
    for (const first of before) {
      for (let keyed = first; keyed !== undefined;) {
        const { next } = keyed;
        this.#insert(keyed);
        keyed = next;
      }
    }
  }
}

function noChains(length: number): (KeyEntry | undefined)[] {
  return Array.from({ length }, () => undefined);
}
