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
  /** The key of another session with the same process id. */
  next: KeyEntry | undefined;
}

export class CancelKeys {
  readonly #first = new Map<number, KeyEntry>();

  add(key: CancelKey, server: Server, session: CancelTarget): KeyEntry {
    const keyed: KeyEntry = { key, current: key, server, session, next: this.#first.get(key.processId) };
    this.#first.set(key.processId, keyed);
    return keyed;
  }

  /** Later calls do nothing. */
  remove(keyed: KeyEntry): void {
    const { processId } = keyed.key;
    let before: KeyEntry | undefined;
    let at = this.#first.get(processId);
    while (at !== undefined && at !== keyed) {
      before = at;
      at = at.next;
    }
    if (at === undefined) return;
    if (before !== undefined) before.next = keyed.next;
    else if (keyed.next === undefined) this.#first.delete(processId);
    else this.#first.set(processId, keyed.next);
  }

  /** The session whose client has that key. */
  find(key: CancelKey): KeyEntry | undefined {
    let found: KeyEntry | undefined;
    for (let keyed = this.#first.get(key.processId); keyed !== undefined; keyed = keyed.next) {
      if (isSameKey(keyed.key, key)) found = keyed;
    }
    return found;
  }

  size(): number {
    return this.#first.size;
  }
}
