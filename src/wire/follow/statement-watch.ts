// Tells whether what ran in a session may have left state in it: by the texts of the client and the tags of the server,
// as the followers read them. Only where a session may move after a loss without warning.
import { effectOfTag, effectOfText, LONGEST_TEXT, worse, type Effect } from './statement-effect.ts';

/** Tags are short words. Bytes. */
export const LONGEST_TAG = 64;
/** The names of a portal and its statement may be longer, and count as unsure then. Bytes. */
export const LONGEST_NAMES = 128;
/** A statement rather than a portal. */
const STATEMENT = 0x53;

const DECODER = new TextDecoder();

export class StatementWatch {
  #effect: Effect = 'clean';
  #isSystemFirst = false;
  /** The effect of the last statement without a name. */
  #unnamed: Effect = 'unsure';
  #hasNewUnnamed = false;

  /** The worst of all since `forget`. */
  effect(): Effect {
    return this.#effect;
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
    this.#hasNewUnnamed = false;
    this.#isSystemFirst = isSystemFirst;
  }

  /** The client sends Query: of its body, the `size` bytes from `at`. */
  queries(bytes: Uint8Array, at: number, size: number): void {
    this.#hasNewUnnamed = true;
    this.#add(this.#effectOfBytes(bytes, at, at + size));
  }

  /** The client sends Parse. A statement with a name stays in the session. */
  parses(bytes: Uint8Array, at: number, size: number): void {
    if (bytes[at] !== 0) return this.#add('dirty');
    this.#hasNewUnnamed = true;
    this.#unnamed = this.#effectOfBytes(bytes, at + 1, at + size);
    return this.#add(this.#unnamed);
  }

  binds(bytes: Uint8Array, at: number, size: number): void {
    const statement = bytes.indexOf(0, at) + 1;
    const isUnnamed = statement > at && statement < at + size && bytes[statement] === 0;
    this.#add(isUnnamed ? this.#unnamed : 'unsure');
  }

  /** The client sends Close, with this first byte of its body. */
  closes(kind: number | undefined): void {
    if (kind === STATEMENT) this.#add('dirty');
  }

  /** The client sends FunctionCall. */
  calls(): void {
    this.#add('dirty');
  }

  /** The server: CommandComplete. */
  completes(bytes: Uint8Array, at: number, size: number): void {
    const [tag = ''] = DECODER.decode(bytes.subarray(at, at + size)).split('\0');
    this.#add(effectOfTag(tag));
  }

  #effectOfBytes(bytes: Uint8Array, at: number, limit: number): Effect {
    const end = bytes.indexOf(0, at);
    if (end === -1 || end >= limit || end - at > LONGEST_TEXT) return 'dirty';
    return effectOfText(DECODER.decode(bytes.subarray(at, end)), this.#isSystemFirst);
  }

  #add(effect: Effect): void {
    this.#effect = worse(this.#effect, effect);
  }
}
