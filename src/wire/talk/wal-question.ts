// Asks a server what it has of the WAL, on the new connection of a session that moves, before its state is restored.
import type { WalReport } from '../../model/moves.ts';
import { MOST_TRIES, Pipeline } from './pipeline.ts';
import type { TalkOutcome, TalkStep } from './server-replies.ts';
import { parsedWalReport, WAL_EXPRESSION } from './wal-report.ts';

/** `wal` is undefined: the server did not answer as it must. `why` is for logs. */
interface WalAnswer {
  readonly wal: WalReport | undefined;
  readonly sqlState: string | undefined;
  readonly why: string;
}

/** Bytes. */
const LONGEST = 10_000;
const SQL = `/* pointsman */ SELECT (${WAL_EXPRESSION})::pg_catalog.text`;

/** One question on a connection that is between two transactions. */
export class WalQuestion {
  readonly #serverMajor: number;
  readonly #parameters = new Map<string, string>();
  #pipeline = this.#newPipeline();
  #tries = 0;
  #answer: string | undefined;

  /** `serverMajor`: the first number of server_version. */
  constructor(serverMajor: number) {
    this.#serverMajor = serverMajor;
  }

  /** The bytes for the server. */
  start(): Uint8Array {
    const before = this.#pipeline;
    this.#tries += 1;
    this.#pipeline = this.#newPipeline()
      .cleanUpAfter(before)
      .guardBriefly(this.#serverMajor)
      .run('question', SQL, [], ([answer]) => (this.#answer = answer ?? undefined))
      .commit();
    return this.#pipeline.send();
  }

  /** The next bytes of the server. */
  take(chunk: Uint8Array): TalkStep<TalkOutcome<WalAnswer>> {
    const end = this.#pipeline.take(chunk);
    if (end === undefined) return { kind: 'wait' };
    if (end.kind === 'ready' && this.#pipeline.isCutShort() && this.#tries < MOST_TRIES) {
      const rest = this.#pipeline.rest();
      const bytes = this.start();
      this.#pipeline.take(rest);
      return { kind: 'send', bytes };
    }
    const why = end.error === undefined ? 'the answer is not understood' : `${end.error.sqlState} ${end.error.message}`;
    const wal = end.kind === 'ready' && end.error === undefined ? parsedWalReport(this.#answer) : undefined;
    const result = { wal, sqlState: end.error?.sqlState, why };
    return { kind: 'done', result, parameters: this.#parameters, rest: this.#pipeline.rest() };
  }

  #newPipeline(): Pipeline {
    return new Pipeline(LONGEST, (name, value) => this.#parameters.set(name, value));
  }
}
