// Keeps, of a session that may move, as much as no server can tell: the parameters as its client knows them, the last
// unnamed statement, and the names of custom settings in its statements. The followers fill it.
import { encodeParameter } from './parameter-status.ts';
import { joined } from './server-messages.ts';
import { StatementTexts } from './statement-texts.ts';

/** A longer unnamed statement is not kept. Bytes of the body of its Parse message. */
export const LONGEST_UNNAMED = 16_384;

const HEADER = 5;
const PARSE = 0x50;

export class SessionMemory {
  /** One text, because a session has a dozen of them: name, NUL, value, NUL. */
  #told = '';
  #unnamed = new Uint8Array(0);
  #unnamedSize = 0;
  #isUnnamedTooLong = false;
  readonly texts = new StatementTexts();

  /** As the client was told last. */
  told(): ReadonlyMap<string, string> {
    const parts = this.#told.split('\0');
    const told = new Map<string, string>();
    for (let at = 0; at + 1 < parts.length; at += 2) told.set(parts[at] ?? '', parts[at + 1] ?? '');
    return told;
  }

  /** The messages that tell the client all that is different now. */
  news(now: ReadonlyMap<string, string>): Uint8Array {
    const told = this.told();
    const changed = [...now].filter(([name, value]) => told.get(name) !== value);
    return joined(changed.map(([name, value]) => encodeParameter(name, value)));
  }

  /** The Parse message of the unnamed statement, if there may be one. */
  unnamed(): Uint8Array | undefined {
    return this.#unnamedSize === 0 ? undefined : this.#unnamed.slice(0, this.#unnamedSize);
  }

  /** For the decision whether the session can move. */
  facts(): { readonly isUnnamedTooLong: boolean; readonly hiddenState: string | undefined } {
    const hiddenState = this.texts.hiddenState() ?? this.texts.computedName();
    return { isUnnamedTooLong: this.#isUnnamedTooLong, hiddenState };
  }

  /** The server tells a parameter. */
  tells(name: string, value: string): void {
    const told = new Map(this.told());
    if (told.get(name) === value) return;
    told.set(name, value);
    this.#told = [...told].map(([one, other]) => `${one}\0${other}\0`).join('');
  }

  /** The client sends Parse: of its body, the `size` bytes from `at`, with one more than the limit at most. */
  parses(bytes: Uint8Array, at: number, size: number): void {
    const nameEnd = bytes.indexOf(0, at);
    this.texts.read(bytes, nameEnd + 1, at + size);
    if (nameEnd !== at) return;
    this.#forget();
    if (size > LONGEST_UNNAMED) {
      this.#isUnnamedTooLong = true;
      return;
    }
    const whole = HEADER + size;
    if (this.#unnamed.length < whole) this.#unnamed = new Uint8Array(whole);
    this.#unnamed[0] = PARSE;
    new DataView(this.#unnamed.buffer).setInt32(1, 4 + size);
    this.#unnamed.set(bytes.subarray(at, at + size), HEADER);
    this.#unnamedSize = whole;
  }

  /** The client sends Query, which ends the unnamed statement (PostgreSQL, exec_simple_query). */
  queries(bytes: Uint8Array, at: number, size: number): void {
    this.#forget();
    this.texts.read(bytes, at, at + size);
  }

  /** The client sends Close, with these first two bytes of its body. */
  closes(kind: number | undefined, name: number | undefined): void {
    if (kind === 0x53 && name === 0) this.#forget();
  }

  #forget(): void {
    this.#unnamedSize = 0;
    this.#isUnnamedTooLong = false;
  }
}
