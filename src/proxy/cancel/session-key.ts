// The cancel key of one session. Its client keeps the first one; after a move it leads to the next server.
import type { CancelKey } from '../../wire/messages/cancel-key.ts';
import type { Server } from '../server.ts';
import type { CancelTarget, KeyEntry } from './cancel-keys.ts';
import type { Cancels } from './cancel.ts';

export class SessionKey {
  readonly #cancels: Cancels;
  readonly #target: CancelTarget;
  /** Undefined: the client was told none. */
  #keyed: KeyEntry | undefined;

  constructor(cancels: Cancels, target: CancelTarget) {
    this.#cancels = cancels;
    this.#target = target;
  }

  /** The client was told this key. Only the first one counts. */
  learn(key: CancelKey | undefined, server: Server): void {
    if (key !== undefined) this.#keyed ??= this.#cancels.keys.add(key, server, this.#target);
  }

  /** Without a new key the first one stays: the new server may know it, and the old one has the session no more. */
  leadsTo(server: Server, key: CancelKey | undefined): void {
    if (this.#keyed !== undefined) Object.assign(this.#keyed, { current: key ?? this.#keyed.current, server });
  }

  /** False: no key is known. */
  cancelStatement(): boolean {
    if (this.#keyed === undefined) return false;
    this.#cancels.cancelStatement(this.#keyed);
    return true;
  }

  /** The session is over. Idempotent. */
  remove(): void {
    if (this.#keyed !== undefined) this.#cancels.keys.remove(this.#keyed);
  }
}
