// Waits on the new connection of a read session until its server shows all that the old one has shown: asks the server,
// has the answer compared, and asks again. Reports once, and nothing after `stop`.
import type { CatchUp } from '../../core/caught-up.ts';
import type { Clock } from '../../model/instant.ts';
import type { WalReport } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import { joined } from '../../wire/messages/server-messages.ts';
import { mayPass } from '../../wire/messages/sql-state.ts';
import { WalQuestion } from '../../wire/talk/wal-question.ts';

/** Compares the server's words with what the old server has shown. Never rejects. */
export type CompareWal = (wal: WalReport) => Promise<CatchUp>;

export interface CatchingUpOptions {
  readonly serverMajor: number;
  readonly clock: Clock;
  readonly write: (bytes: Uint8Array) => void;
  readonly compare: CompareWal;
  /** `parameters`: those that the server has told meanwhile. `rest`: its bytes that nobody has read. */
  readonly onDone: (parameters: ReadonlyMap<string, string>, rest: Uint8Array) => void;
  /** `isForNow`: it may have caught up later. */
  readonly onFailed: (detail: string, isForNow: boolean) => void;
}

/** Between two questions. Milliseconds. */
const PAUSE_MS = 50;
/** Then another server may be the better one. Milliseconds. */
const LIMIT_MS = 2_000;

export class CatchingUp {
  readonly #options: CatchingUpOptions;
  readonly #until: number;
  readonly #parameters = new Map<string, string>();
  /** Undefined between two questions. */
  #question: WalQuestion | undefined;
  /** The bytes of the server between two questions. */
  readonly #unread: Uint8Array[] = [];
  #isOver = false;
  #cancelPause = nothing;

  constructor(options: CatchingUpOptions) {
    this.#options = options;
    this.#until = options.clock.now() + LIMIT_MS;
  }

  /** `rest`: bytes of the server that belong to it. */
  start(rest: Uint8Array): void {
    const question = new WalQuestion(this.#options.serverMajor);
    this.#question = question;
    this.#options.write(question.start());
    if (rest.length > 0) this.take(rest);
  }

  take(chunk: Uint8Array): void {
    const question = this.#question;
    if (question === undefined) {
      this.#unread.push(chunk);
      return;
    }
    const step = question.take(chunk);
    if (step.kind === 'send') return this.#options.write(step.bytes);
    if (step.kind === 'wait') return undefined;
    this.#question = undefined;
    for (const [name, value] of step.parameters) this.#parameters.set(name, value);
    this.#unread.push(step.rest);
    const { wal, sqlState, why } = step.result;
    if (wal === undefined) return this.#failed(`its WAL position is not known: ${why}`, mayPass(sqlState));
    void this.#compare(wal);
    return undefined;
  }

  stop(): void {
    this.#isOver = true;
    this.#cancelPause();
  }

  async #compare(wal: WalReport): Promise<void> {
    const { compare, clock, onDone } = this.#options;
    const found = await compare(wal);
    if (this.#isOver) return undefined;
    if (found.kind === 'caught_up') {
      this.stop();
      return onDone(this.#parameters, joined(this.#unread.splice(0)));
    }
    if (found.kind === 'never') return this.#failed('what the old server has shown may be lost', false);
    if (clock.now() >= this.#until) return this.#failed('it does not show all that the old server has shown', true);
    this.#cancelPause = clock.schedule(PAUSE_MS, () => this.start(joined(this.#unread.splice(0))));
    return undefined;
  }

  #failed(detail: string, isForNow: boolean): void {
    this.stop();
    this.#options.onFailed(detail, isForNow);
  }
}
