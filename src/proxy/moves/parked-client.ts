// The client of a session that has no server at the moment. Reads ahead, so that it is known which clients wait for an
// answer and which have left, and keeps what it reads for the next server. A statement of a client that has left is not
// begun.
import type { CloseReason } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import { encodeParameterStatus } from '../../wire/messages/server-messages.ts';
import { WaitingBytes, type OwedError } from '../cancel/waiting-bytes.ts';
import { hasVanished, type ProxySocket } from '../socket.ts';
import { NodeHandle } from '../relay/direct/node-handle.ts';

/** The most that is read ahead, but for the rest of one read. Then the kernel keeps the rest. Bytes. */
const MOST_AHEAD = 16 * 1024;
/** The type of Terminate. */
const GOODBYE = 0x58;
/**
 * A client that is not read, or has half-closed, is told what it knows: the value of every server. If it has left, its
 * host answers with a reset, and the next write fails. Milliseconds, doubled from the first to the last.
 */
const TOLD = encodeParameterStatus('integer_datetimes', 'on');
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = 1_000;

export interface ParkedClientOptions {
  readonly client: ProxySocket;
  readonly clock: Clock;
  /** The bytes that the client has sent already. */
  readonly waiting: WaitingBytes | undefined;
  /** The client has sent something for the first time since it is parked. */
  readonly onWaiting: () => void;
  /** The rest of a cancelled statement has come. */
  readonly onWhole: () => void;
  /** Set where the transaction of the client was ended. */
  readonly ended?: EndedTransaction | undefined;
  /** The client has left, and reads no answer. */
  readonly onLeft: (reason: CloseReason) => void;
}

export interface EndedTransaction {
  /** Its next request reads this. Undefined: the transaction had failed before, as the client knows. */
  readonly owed: OwedError | undefined;
  /** Gives the client an answer of ours, which the follower reads as well. */
  readonly tell: (bytes: Uint8Array) => void;
  /** The error is told, or a ROLLBACK needs none. Not for one that the constructor tells. */
  readonly onTold: () => void;
}

export interface Ahead {
  readonly bytes: Uint8Array;
  /** The client has half-closed. */
  readonly hasEnded: boolean;
}

export class ParkedClient {
  readonly #options: ParkedClientOptions;
  readonly #waiting: WaitingBytes;
  #hasEnded: boolean;
  #isReleased = false;
  /** The handle of the client's socket while it is not read. */
  #stopped: NodeHandle | undefined;
  #lookMs = FIRST_LOOK_MS;
  /** Undefined: the client is read, which shows when it leaves. */
  #cancelLook: (() => void) | undefined;

  /** The socket is this object's until `release`. */
  constructor(options: ParkedClientOptions) {
    const { client, waiting = new WaitingBytes() } = options;
    this.#options = options;
    this.#waiting = waiting;
    this.#hasEnded = client.readableEnded;
    client.on('data', this.take).on('end', this.#ended).on('error', this.#failed).on('close', this.#closed);
    if (options.ended !== undefined) this.#tell(waiting.owes(options.ended.owed));
    this.#flow();
  }

  /** It has sent something that waits for an answer. */
  isWaiting(): boolean {
    return this.#waiting.length() > 0;
  }

  /** False: the rest of a cancelled statement is still to come. */
  isWhole(): boolean {
    return !this.#waiting.isCancelling();
  }

  /** Its next request is still to be told that its transaction was ended. */
  isOwed(): boolean {
    return this.#waiting.isOwing();
  }

  /** The client knows that it is in a transaction that has failed. */
  hasFailed(): boolean {
    return this.#waiting.status() === 'failed';
  }

  /** A cancelled statement would have replaced the unnamed one. */
  hasLostUnnamed(): boolean {
    return this.#waiting.hasLostUnnamed();
  }

  /** Gives the socket back, paused. */
  release(): void {
    const { client } = this.#options;
    client.off('data', this.take).off('end', this.#ended).off('error', this.#failed).off('close', this.#closed);
    client.pause();
    this.#isReleased = true;
    this.#readAgain();
    this.#stopLooking();
  }

  /** All that the client has sent so far. */
  ahead(): Ahead {
    return { bytes: this.#waiting.bytes(), hasEnded: this.#hasEnded };
  }

  /** The client wants its statement to be cancelled. */
  cancel(): void {
    this.#tell(this.#waiting.cancelFirst());
    this.#look();
  }

  /** The next bytes of the client. */
  readonly take = (chunk: Uint8Array): void => {
    const [isFirst, wasWhole, wasOwed] = [!this.isWaiting(), this.isWhole(), this.isOwed()];
    this.#tell(this.#waiting.add(chunk));
    if (this.#look()) return;
    if (isFirst && this.isWaiting()) this.#options.onWaiting();
    if (!wasWhole && this.isWhole()) this.#options.onWhole();
    if (wasOwed && !this.isOwed()) this.#options.ended?.onTold();
  };

  /** A client that has half-closed behind a statement still wants the answer. */
  readonly #ended = (): void => {
    this.#hasEnded = true;
    this.#look();
  };

  readonly #failed = (error?: Error): void => {
    this.#stopLooking();
    this.#options.onLeft(hasVanished(error) ? 'client_tcp_timeout' : 'client_reset');
  };

  readonly #closed = (): void => this.#failed();

  #tell(bytes: Uint8Array | undefined): void {
    const { client, ended } = this.#options;
    if (bytes === undefined || bytes.length === 0) return;
    if (ended === undefined) client.write(bytes);
    else ended.tell(bytes);
  }

  /** True: the client has left. */
  #look(): boolean {
    const isGoodbye = this.#waiting.bytes()[0] === GOODBYE;
    if (!isGoodbye && !(this.#hasEnded && !this.isWaiting())) {
      this.#flow();
      return false;
    }
    this.#stopLooking();
    this.#options.onLeft('client_closed');
    return true;
  }

  #flow(): void {
    const { client } = this.#options;
    const isPaused = this.#waiting.length() >= MOST_AHEAD;
    if (isPaused) {
      client.pause();
      // A paused socket of Node goes on to fill its own buffer. Behind this turn's ticks it does not begin again.
      queueMicrotask(this.#stopReading);
    } else {
      client.resume();
      this.#readAgain();
    }
    if (!isPaused && !this.#hasEnded) this.#stopLooking();
    else this.#cancelLook ??= this.#schedule();
  }

  readonly #stopReading = (): void => {
    if (this.#isReleased || this.#stopped !== undefined || this.#waiting.length() < MOST_AHEAD) return;
    this.#stopped = NodeHandle.of(this.#options.client);
    this.#stopped?.pause();
  };

  #readAgain(): void {
    this.#stopped?.resume();
    this.#stopped = undefined;
  }

  #schedule(): () => void {
    return this.#options.clock.schedule(this.#lookMs, () => {
      this.#lookMs = Math.min(LAST_LOOK_MS, 2 * this.#lookMs);
      this.#cancelLook = this.#schedule();
      this.#options.client.write(TOLD);
    });
  }

  #stopLooking(): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }
}
