// Puts a session into a transaction that has failed, as its client knows it. From then on PostgreSQL itself answers
// 25P02 until ROLLBACK. Nothing of it stays at the server.
import type { ServerError, TalkStep } from './server-replies.ts';
import { Pipeline } from './pipeline.ts';

/** There is no such statement, and the server's log says why it was asked for. */
const NO_STATEMENT = '_pointsman: the transaction was ended by a planned change of its server';
/** The SQLSTATE invalid_sql_statement_name. */
const UNKNOWN_STATEMENT = '26000';
const FAILURE = 'its failure';
const LONGEST_ANSWER = 10_000;

export type FailedTransactionStep = TalkStep<{
  /** Undefined: the transaction has failed, as it must. */
  readonly error: Pick<ServerError, 'sqlState' | 'message'> | undefined;
  readonly parameters: ReadonlyMap<string, string>;
  /** Bytes behind the answers: for the client. */
  readonly rest: Uint8Array;
}>;

export class FailedTransaction {
  readonly #parameters = new Map<string, string>();
  readonly #pipeline = new Pipeline(LONGEST_ANSWER, (name, value) => this.#parameters.set(name, value));

  /** The bytes for a server that is between two transactions. */
  start(): Uint8Array {
    const pipeline = this.#pipeline.run('BEGIN', 'BEGIN');
    return pipeline
      .describe(FAILURE, NO_STATEMENT, () => {})
      .sync()
      .send();
  }

  take(chunk: Uint8Array): FailedTransactionStep {
    const end = this.#pipeline.take(chunk);
    if (end === undefined) return { kind: 'wait' };
    const { error: found } = end;
    // An end of BEGIN with that error leaves no transaction.
    const isItsOwn = found?.request === FAILURE && found.sqlState === UNKNOWN_STATEMENT;
    const isDone = isItsOwn && this.#pipeline.isUnclean();
    const error = isDone ? undefined : (found ?? { sqlState: '', message: 'the answer is not understood' });
    return { kind: 'done', error, parameters: this.#parameters, rest: this.#pipeline.rest() };
  }
}
