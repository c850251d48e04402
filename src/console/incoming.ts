// The bytes of one client, read packet by packet. It never holds more than one message of the permitted length and the
// chunk that completed it, whatever a client sends.
import { joined } from '../wire/messages/server-messages.ts';
import { readMessage } from '../wire/messages/client-messages.ts';
import { recognise, type Recognition } from '../wire/startup/startup.ts';

/** The longest statement, with room for what psql sends for its own commands. Bytes. */
export const LONGEST_MESSAGE = 16 * 1024;

export interface ConsoleMessage {
  readonly type: string;
  readonly body: Uint8Array;
}

/** A packet before the session, with its bytes. */
export type FirstBytes = Exclude<Recognition, { kind: 'need_more' }> & { readonly packet: Uint8Array };

/** The client broke the protocol. The message is for the client. */
export class ProtocolViolation extends Error {}

/** A field that a message must have. */
export function required<T>(field: T | undefined): T {
  if (field === undefined) throw new ProtocolViolation('a message ends too early');
  return field;
}

const NOTHING = new Uint8Array();

export class ConsoleInput {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #bytes: Uint8Array = NOTHING;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Undefined: the client has closed. */
  async opening(): Promise<FirstBytes | undefined> {
    for (;;) {
      const recognition = recognise(this.#bytes);
      if (recognition.kind !== 'need_more') {
        const length = 'length' in recognition ? recognition.length : this.#bytes.length;
        return { ...recognition, packet: this.#take(length) };
      }
      if (!(await this.#more())) return undefined;
    }
  }

  /** Undefined: the client has closed. */
  async message(): Promise<ConsoleMessage | undefined> {
    for (;;) {
      const message = readMessage(this.#bytes, LONGEST_MESSAGE);
      if (message.kind === 'invalid') throw new ProtocolViolation(message.why);
      if (message.kind === 'message') {
        this.#take(message.length);
        return { type: message.type, body: message.body };
      }
      if (!(await this.#more())) return undefined;
    }
  }

  #take(length: number): Uint8Array {
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#bytes = this.#bytes.length === 0 ? next.value : joined([this.#bytes, next.value]);
    return true;
  }
}
