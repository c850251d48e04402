// A question to a server whose client has a transaction open. ROLLBACK comes first, and the question is sent when the
// server has said that no transaction is left: what the question commits must not be the client's.
import { joined } from '../messages/server-messages.ts';
import { Pipeline } from './pipeline.ts';
import type { QuestionStep, StateAnswer } from './session-question.ts';

interface StateQuestion {
  start(): Uint8Array;
  take(chunk: Uint8Array): QuestionStep<StateAnswer>;
}

/** A longer answer to a ROLLBACK is not read. Bytes. */
const LONGEST_ANSWER = 10_000;

export class RollbackQuestion implements StateQuestion {
  readonly #question: StateQuestion;
  /** Undefined: the transaction has ended. */
  #rollback: Pipeline | undefined;
  /** The messages of the server that are the client's. */
  readonly #toClient: Uint8Array[] = [];

  constructor(question: StateQuestion) {
    this.#question = question;
    const keep = (message: Uint8Array): void => void this.#toClient.push(message);
    this.#rollback = new Pipeline(LONGEST_ANSWER, (_name, _value, message) => keep(message), keep);
  }

  start(): Uint8Array {
    // It leaves the client's unnamed statement, which a simple query would drop.
    return this.#rollback?.run('ROLLBACK', 'ROLLBACK').sync().send() ?? new Uint8Array(0);
  }

  take(chunk: Uint8Array): QuestionStep<StateAnswer> {
    const rollback = this.#rollback;
    if (rollback === undefined) return this.#withNews(this.#question.take(chunk));
    const end = rollback.take(chunk);
    if (end === undefined) return { kind: 'wait' };
    if (end.kind === 'over' || end.error !== undefined) return this.#failed(end.error?.message);
    this.#rollback = undefined;
    const bytes = this.#question.start();
    const rest = rollback.rest();
    // Notices and notifications, at most: nothing else was asked.
    const step = rest.length === 0 ? undefined : this.#question.take(rest);
    return step?.kind === 'done' ? this.#withNews(step) : { kind: 'send', bytes };
  }

  /** The transaction may be open. */
  #failed(error = 'the answer is not understood'): QuestionStep<StateAnswer> {
    const why = `the transaction could not be rolled back: ${error}`;
    const result = { kind: 'failed', reason: 'question_failed', why } as const;
    return { kind: 'done', result, toClient: joined(this.#toClient) };
  }

  #withNews(step: QuestionStep<StateAnswer>): QuestionStep<StateAnswer> {
    return step.kind === 'done' ? { ...step, toClient: joined([...this.#toClient, step.toClient]) } : step;
  }
}
