// The client of a session that has no server at the moment. Reads ahead, so that it is known which clients wait for an
// answer and which have left, and keeps what it reads for the next server.
import type { Socket } from 'node:net';
import type { CloseReason } from '../../model/close-reason.ts';
import { joined } from '../../wire/server-messages.ts';

/** The most that is read ahead. Then the socket is not read, and the kernel keeps the rest. */
const MOST_AHEAD = 64 * 1024;
/** Of Terminate. */
const GOODBYE = 0x58;

export interface ParkedClientInputs {
  readonly client: Socket;
  /** Chunks that the client has sent already. */
  readonly waiting: readonly Uint8Array[];
  /** The client has sent something for the first time since it is parked. */
  readonly onWaiting: () => void;
  /** The client has left, and nothing of it waits. */
  readonly onLeft: (reason: CloseReason) => void;
}

export interface Ahead {
  readonly bytes: Uint8Array;
  /** The client has half-closed. */
  readonly hasEnded: boolean;
}

export class ParkedClient {
  readonly #inputs: ParkedClientInputs;
  readonly #chunks: Uint8Array[];
  #length: number;
  #hasEnded = false;

  /** The socket is this object's until `release`. */
  constructor(inputs: ParkedClientInputs) {
    const { client, waiting } = inputs;
    this.#inputs = inputs;
    this.#chunks = [...waiting];
    this.#length = waiting.reduce((sum, { length }) => sum + length, 0);
    client.on('data', this.take).on('end', this.#ended).on('error', this.#failed).on('close', this.#failed);
    this.#flow();
  }

  /** It has sent something that waits for an answer. */
  isWaiting(): boolean {
    return this.#length > 0;
  }

  /** Gives the socket back, paused. */
  release(): Ahead {
    const { client } = this.#inputs;
    client.off('data', this.take).off('end', this.#ended).off('error', this.#failed).off('close', this.#failed);
    client.pause();
    return { bytes: joined(this.#chunks), hasEnded: this.#hasEnded };
  }

  #flow(): void {
    if (this.#length < MOST_AHEAD) this.#inputs.client.resume();
    else this.#inputs.client.pause();
  }

  /** The next bytes of the client. */
  readonly take = (chunk: Uint8Array): void => {
    const isFirst = this.#length === 0;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#flow();
    if (this.#isGoodbye()) this.#inputs.onLeft('client_closed');
    else if (isFirst) this.#inputs.onWaiting();
  };

  /** A client that has half-closed behind a statement still wants the answer. */
  readonly #ended = (): void => {
    this.#hasEnded = true;
    if (this.#length === 0) this.#inputs.onLeft('client_closed');
  };

  readonly #failed = (): void => this.#inputs.onLeft('client_reset');

  #isGoodbye(): boolean {
    return this.#chunks[0]?.[0] === GOODBYE;
  }
}
