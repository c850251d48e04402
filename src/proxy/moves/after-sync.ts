// A question to a server whose client has prepared statements and sent no Sync. A Sync of ours comes before it, so that
// the server is between two transactions. The client expects no answer, and gets none.
import { MessageReader, type ReadMessage } from '../../wire/messages/message-reader.ts';
import { joined, message } from '../../wire/messages/server-messages.ts';
import { serverError } from '../../wire/talk/server-replies.ts';
import type { QuestionStep } from '../../wire/talk/session-question.ts';
import type { Question } from './question-channel.ts';

type Message = Extract<ReadMessage, { kind: 'message' }>;

/** The question ends a session whose server says more than this before the first answer. Bytes, with their places. */
const MOST_BYTES = 1_000_000;
const PLACE_BYTES = 100;
/** ParameterStatus, NotificationResponse, NoticeResponse. */
const UNASKED = new Set(['S', 'A', 'N']);
const SYNC = message('S');

export class AfterSync<Result> implements Question<Result> {
  readonly #question: Question<Result>;
  /** Undefined: the answer to the Sync is over. */
  #reader: MessageReader | undefined = new MessageReader(MOST_BYTES);
  readonly #toClient: Uint8Array[] = [];
  #size = 0;
  #isReady = false;

  constructor(question: Question<Result>) {
    this.#question = question;
  }

  start(): Uint8Array {
    return joined([SYNC, this.#question.start()]);
  }

  take(chunk: Uint8Array): QuestionStep<Result> {
    const rest = this.#reader === undefined ? chunk : this.#readAnswer(this.#reader, chunk);
    const step = rest === undefined ? ({ kind: 'wait' } as const) : this.#question.take(rest);
    if (step.kind !== 'done') return step;
    return { ...step, toClient: joined([...this.#toClient, step.toClient]) };
  }

  /** Returns the bytes behind it. Undefined: it is not over. */
  #readAnswer(reader: MessageReader, chunk: Uint8Array): Uint8Array | undefined {
    reader.add(chunk);
    for (;;) {
      const next = reader.next();
      if (next === undefined) return undefined;
      if (next.kind === 'message' && this.#isOfSync(next)) continue;
      if (next.kind === 'message') reader.putBack(next.bytes);
      this.#reader = undefined;
      return reader.rest();
    }
  }

  /** False: the question reads it. */
  #isOfSync({ type, body, bytes }: Message): boolean {
    this.#size += bytes.length + PLACE_BYTES;
    if (body === undefined || this.#size > MOST_BYTES) return false;
    if (UNASKED.has(type)) this.#toClient.push(bytes);
    // A limit of time that was over while the client paused, or a cancel request: nothing was under way.
    else if (type === 'E' && !this.#isReady) return !serverError(body, '').isFatal;
    else if (type === 'Z') this.#isReady = true;
    else return false;
    return true;
  }
}
