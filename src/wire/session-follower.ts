// Follows both directions of a relayed session after its startup packet and knows its current activity. Anything
// uncertain counts as busy. The client's bytes must be passed in before they are forwarded, so that a reply never comes
// before its request.
import { BackendFollower } from './backend-follower.ts';
import type { CancelKey } from './cancel-key.ts';
import { ClientFollower } from './client-follower.ts';
import type { SessionMemory } from './session-memory.ts';

/**
 * `unknown`: one direction had invalid bytes; this is final. `starting`: authentication or startup is not finished.
 * `busy`: a message is incomplete, or a request has no complete reply yet: a query, a COPY, replication,
 * extended-protocol messages without a Sync. The others: the session waits for the client, in the transaction state of
 * the backend's latest ReadyForQuery.
 */
export type Activity = 'unknown' | 'starting' | 'busy' | 'idle' | 'in_transaction' | 'in_failed_transaction';

/**
 * An error without a request may cross a request on the wire and look like its reply. Then that request's reply is
 * still due, and perhaps the reply to the next request, which the client sent meanwhile.
 */
const UNSURE_FOR = 2;

export class SessionFollower {
  readonly #memory: SessionMemory | undefined;
  readonly #client: ClientFollower;
  readonly #backend: BackendFollower;
  /** How many more ReadyForQuery are needed before the session counts as idle again. */
  #unsure = 0;

  /** `memory`: of a session that may move. */
  constructor(memory?: SessionMemory) {
    this.#memory = memory;
    this.#client = new ClientFollower(memory);
    this.#backend = new BackendFollower(memory);
  }

  /** The next bytes from the client, before they are forwarded. */
  fromClient(chunk: Uint8Array): void {
    this.#client.follow(chunk, this.#backend.isCopyingIn());
  }

  /** As `fromClient`, for a session that is to become idle. Returns how many bytes may be forwarded by now. */
  fromClientOneByOne(chunk: Uint8Array): number {
    return this.#client.followOneByOne(chunk, this.#backend.isCopyingIn());
  }

  /** After `fromClientOneByOne`: no bytes need to wait any more. */
  mayGoOn(): boolean {
    return this.#client.awaited() === 0 || !this.#client.isFollowing();
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
    const client = this.#client;
    client.answered(count);
    const isSettled = client.awaited() === 0 && !client.isUnsynced() && this.#unsure === 0;
    if (isSettled) this.#memory?.settles();
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

  /**
   * The session may end now without loss, and a message of ours to the client would stand between two of the backend's.
   */
  isBetweenTransactions(): boolean {
    return this.activity() === 'idle';
  }

  /** No message to the client is incomplete, so a message of ours may follow. */
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

  /** The SQLSTATE of a FATAL error when it is the backend's last message so far. */
  fatal(): string | undefined {
    return this.#backend.fatal();
  }
}
