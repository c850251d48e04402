// Follows both directions of a relayed session after its startup packet and knows its current activity. The client's
// bytes must be passed in before they are forwarded, so that a reply never comes before its request.
import { BackendFollower } from './backend-follower.ts';
import type { CancelKey } from '../messages/cancel-key.ts';
import { ClientFollower } from './client-follower.ts';
import type { SessionMemory } from './session-memory.ts';
import { UnansweredMessages } from './unanswered.ts';

/**
 * `unknown`: one direction had invalid bytes; this is final. `starting`: authentication or startup is not finished.
 * `busy`: a message is incomplete, or a request has no complete reply yet: a query, a COPY, replication, a Bind or an
 * Execute without a Sync. The others: the session waits for the client, in the transaction state of the backend's
 * latest ReadyForQuery. Some drivers only prepare statements, and wait without a Sync.
 */
export type Activity = 'unknown' | 'starting' | 'busy' | 'idle' | 'in_transaction' | 'in_failed_transaction';

export class SessionFollower {
  readonly #memory: SessionMemory | undefined;
  readonly #unanswered = new UnansweredMessages();
  readonly #client: ClientFollower;
  readonly #backend: BackendFollower;

  /** `memory`: of a session that may move. */
  constructor(memory?: SessionMemory) {
    this.#memory = memory;
    this.#client = new ClientFollower(this.#unanswered, memory);
    this.#backend = new BackendFollower(this.#unanswered, memory);
  }

  /** The next bytes from the client, before they are forwarded. */
  fromClient(chunk: Uint8Array): void {
    this.#client.walk(chunk);
  }

  /** As `fromClient`, for a session that is to become idle. Returns how many bytes may be forwarded by now. */
  fromClientOneByOne(chunk: Uint8Array): number {
    if (this.#backend.isFollowing()) return this.#client.walkOneByOne(chunk);
    this.fromClient(chunk);
    return chunk.length;
  }

  /**
   * As `fromClient`, but stops before a message that may begin a transaction. `isOneByOne`: as `fromClientOneByOne`, as
   * well. Returns how many bytes may be forwarded by now.
   */
  fromClientUntilTransaction(chunk: Uint8Array, isOneByOne = false): number {
    if (this.#backend.isFollowing()) {
      return this.#client.walkUntilTransaction(chunk, this.#mayBeginTransaction, isOneByOne);
    }
    this.fromClient(chunk);
    return chunk.length;
  }

  /** After `fromClientOneByOne`: no bytes need to wait any more. */
  mayGoOn(): boolean {
    return !this.isReplyDue();
  }

  /** The server will say something without another message of its client. */
  isReplyDue(): boolean {
    return this.#unanswered.isDue() && this.#isFollowing();
  }

  /** The next bytes from the backend. */
  fromBackend(chunk: Uint8Array): void {
    this.#backend.walk(chunk);
    if (this.#unanswered.isSettled()) this.#memory?.settles(this.#backend.transaction() === 'idle');
  }

  activity(): Activity {
    const client = this.#client;
    const backend = this.#backend;
    if (!this.#isFollowing()) return 'unknown';
    const transaction = backend.transaction();
    if (!backend.isAuthenticated() || transaction === undefined) return 'starting';
    if (!client.isAtBoundary() || !backend.isAtBoundary()) return 'busy';
    if (!this.#unanswered.isSettled() && !this.#unanswered.mayBeSynced()) return 'busy';
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

  /**
   * In a transaction, whose server has to answer one request more, and has said nothing of it yet but whole messages of
   * its result: an error may end it.
   */
  mayFailOnce(): boolean {
    const backend = this.#backend;
    if (!this.#isFollowing() || !this.#client.isAtBoundary() || !backend.isAtBoundary()) return false;
    return backend.transaction() === 'open' && !backend.isAfterError() && this.#unanswered.isOneDue();
  }

  /** The client has prepared statements, and may run one of them before its Sync. */
  hasBatch(): boolean {
    return this.#unanswered.mayBeSynced();
  }

  /**
   * Between two transactions: ends what waits for a Sync of the client. True: the server must be sent one for that,
   * whose answer is not passed in here.
   */
  endBatch(): boolean {
    if (!this.hasBatch()) return false;
    this.#unanswered.endBatch();
    this.#memory?.settles(this.#backend.transaction() === 'idle');
    return true;
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

  /** While answers are due it is not known whether they end a transaction. */
  readonly #mayBeginTransaction = (type: number): boolean => {
    if (!this.#unanswered.mayBegin(type)) return false;
    const transaction = this.#backend.transaction();
    const isKnown = this.#unanswered.isSettled() || this.#unanswered.mayBeSynced();
    return !(isKnown && (transaction === 'open' || transaction === 'failed'));
  };

  #isFollowing(): boolean {
    return this.#client.isFollowing() && this.#backend.isFollowing();
  }
}
