// Both directions of one relayed session, followed together from behind its startup packet on: what the session does at this
// moment. Whatever is not certain counts as busy. The client's bytes must be shown before they are sent on to the backend, so that no
// answer is ever seen before its question.
import { BackendFollower } from './backend-follower.ts';
import type { CancelKey } from './cancel-key.ts';
import { ClientFollower } from './client-follower.ts';

/**
 * `unknown`: one direction made no sense, for good. `starting`: not yet through authentication and startup. `busy`: a message is
 * under way, or a request not wholly answered: a query, a COPY, replication, extended-protocol messages without their Sync.
 * Else the session waits for the client, as the backend's latest ReadyForQuery says: in no transaction, in one, in a failed one.
 */
export type Activity = 'unknown' | 'starting' | 'busy' | 'idle' | 'in_transaction' | 'in_failed_transaction';

/**
 * An error that came unasked and crossed a request on its way is taken for the answer: that request's answer is still
 * to come, and behind it perhaps that of the next one, which the client sent meanwhile.
 */
const UNSURE_FOR = 2;

export class SessionFollower {
  readonly #client = new ClientFollower();
  readonly #backend = new BackendFollower();
  /** ReadyForQuery to come until the session is believed to be idle again. */
  #unsure = 0;

  /** The next bytes from the client, before they are sent on. */
  fromClient(chunk: Uint8Array): void {
    this.#client.follow(chunk, this.#backend.isCopyingIn());
  }

  /** The next bytes from the backend. */
  fromBackend(chunk: Uint8Array): void {
    const backend = this.#backend;
    const ready = backend.readyCount();
    const unasked = backend.unaskedCount();
    backend.walk(chunk);
    const count = backend.readyCount() - ready;
    if (count === 0) return;
    const isUnsure = backend.unaskedCount() > unasked && this.#client.awaited() > 0;
    this.#unsure = isUnsure ? UNSURE_FOR : Math.max(0, this.#unsure - count);
    this.#client.answered(count);
  }

  activity(): Activity {
    const client = this.#client;
    const backend = this.#backend;
    if (!client.isFollowing() || !backend.isFollowing()) return 'unknown';
    const transaction = backend.transaction();
    if (!backend.isAuthenticated() || transaction === undefined) return 'starting';
    if (!client.isAtBoundary() || !backend.isAtBoundary()) return 'busy';
    if (client.awaited() > 0 || client.isUnsynced() || this.#unsure > 0) return 'busy';
    switch (transaction) {
      case 'idle':
        return 'idle';
      case 'open':
        return 'in_transaction';
      case 'failed':
        return 'in_failed_transaction';
    }
  }

  /** Nothing is lost but the session itself if it ends now; a message of ours to the client would stand between two of the backend's. */
  isBetweenTransactions(): boolean {
    return this.activity() === 'idle';
  }

  /** The client may be told something: no message to it is cut in two. */
  isAtBoundaryToClient(): boolean {
    return this.#backend.isAtBoundary();
  }

  /** The client said goodbye. */
  isTerminating(): boolean {
    return this.#client.isTerminating();
  }

  cancelKey(): CancelKey | undefined {
    return this.#backend.cancelKey();
  }

  isInHotStandby(): boolean | undefined {
    return this.#backend.isInHotStandby();
  }

  /** The SQLSTATE of a FATAL error, if one is the backend's last message so far. */
  fatal(): string | undefined {
    return this.#backend.fatal();
  }
}
