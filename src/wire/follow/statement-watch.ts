// Tells whether what ran in a session may have left state in it: by the texts of the client and the tags of the server,
// as the followers read them. Only where a session may move after a loss without warning.
import {
  commandAt,
  effectOfCommand,
  effectOfText,
  LONGEST_TEXT,
  mayBeClean,
  TELLING_WORDS,
  worse,
  type Effect,
} from './statement-effect.ts';
import { SUSPICIOUS_WORDS } from './statement-texts.ts';
import { JUDGED_WORDS, TransactionWatch } from './transaction-watch.ts';
import { finderOf } from './word-finder.ts';

/** Tags are short words. Bytes. */
export const LONGEST_TAG = 64;
/** The names of a portal and its statement may be longer, and count as unsure then. Bytes. */
export const LONGEST_NAMES = 128;
/** A statement rather than a portal. */
const STATEMENT = 0x53;

const DECODER = new TextDecoder();
const findTelling = finderOf([...new Set([...TELLING_WORDS, ...JUDGED_WORDS, ...SUSPICIOUS_WORDS])]);

export class StatementWatch {
  readonly transaction = new TransactionWatch();
  #effect: Effect = 'clean';
  /** When the session was between two transactions last. */
  #effectBefore: Effect = 'clean';
  #isSystemFirst = false;
  /** The effect of the last statement without a name. */
  #unnamed: Effect = 'unsure';
  #hasNewUnnamed = false;

  /** The worst of all since `forget`. */
  effect(): Effect {
    return this.#effect;
  }

  /** As `effect`, without what has run since the session was between two transactions last. */
  effectBefore(): Effect {
    return this.#effectBefore;
  }

  /** The session is between two transactions. */
  settles(): void {
    this.#effectBefore = this.#effect;
    this.transaction.settles();
  }

  /** The client has sent an unnamed statement, or ended it, since `forget`. */
  hasNewUnnamed(): boolean {
    return this.#hasNewUnnamed;
  }

  /**
   * To be called between two transactions, when the state of the session is known. `isSystemFirst`: no schema comes
   * before pg_catalog in its search_path.
   */
  forget(isSystemFirst: boolean): void {
    this.#effect = 'clean';
    this.#effectBefore = 'clean';
    this.#hasNewUnnamed = false;
    this.#isSystemFirst = isSystemFirst;
  }

  /**
   * The client sends Query: of its body, the `size` bytes from `at`. True: the text has none of the words that anything
   * is known by, those of `StatementTexts` included.
   */
  queries(bytes: Uint8Array, at: number, size: number): boolean {
    this.#hasNewUnnamed = true;
    const end = findTelling(bytes, at, at + size);
    this.#add(this.#read(bytes, at, at + size, end, false));
    return end !== -1;
  }

  /** As `queries`, for Parse. A statement with a name stays in the session. */
  parses(bytes: Uint8Array, at: number, size: number): boolean {
    if (bytes[at] !== 0) {
      this.transaction.lasts();
      this.#add('dirty');
      return false;
    }
    this.#hasNewUnnamed = true;
    const end = findTelling(bytes, at + 1, at + size);
    this.#unnamed = this.#read(bytes, at + 1, at + size, end, true);
    this.#add(this.#unnamed);
    return end !== -1;
  }

  binds(bytes: Uint8Array, at: number, size: number): void {
    const statement = bytes.indexOf(0, at) + 1;
    const end = bytes.indexOf(0, statement);
    const isShown = statement > at && end !== -1 && end < at + size;
    const name = isShown ? DECODER.decode(bytes.subarray(statement, end)) : undefined;
    this.transaction.binds(name);
    this.#add(name === '' ? this.#unnamed : 'unsure');
  }

  /** The client sends Close, with this first byte of its body. */
  closes(kind: number | undefined): void {
    if (kind !== STATEMENT) return;
    this.transaction.lasts();
    this.#add('dirty');
  }

  /** The client sends FunctionCall. */
  calls(): void {
    this.transaction.lasts();
    this.#add('dirty');
  }

  /** The server: CommandComplete. */
  completes(bytes: Uint8Array, at: number, size: number): void {
    const command = commandAt(bytes, at, size);
    this.transaction.completes(command);
    this.#add(effectOfCommand(command));
  }

  /** `plainEnd`: the end of the text, if it has no telling word. -1: it may have some. */
  #read(bytes: Uint8Array, at: number, limit: number, plainEnd: number, isUnnamed: boolean): Effect {
    if (plainEnd !== -1 && plainEnd - at <= LONGEST_TEXT && !mayBeClean(bytes, at)) {
      this.transaction.readsHarmless(isUnnamed);
      return 'unsure';
    }
    const end = bytes.indexOf(0, at);
    const isWhole = end !== -1 && end < limit && end - at <= LONGEST_TEXT;
    const text = isWhole ? DECODER.decode(bytes.subarray(at, end)) : undefined;
    this.transaction.reads(text, isUnnamed);
    return text === undefined ? 'dirty' : effectOfText(text, this.#isSystemFirst);
  }

  #add(effect: Effect): void {
    this.#effect = worse(this.#effect, effect);
  }
}
