// Keeps, of a session that may move, as much as no server can tell: the parameters as its client knows them, the last
// unnamed statement, and the names of custom settings in its statements. The followers fill it.
import type { CarriedState } from '../model/moves.ts';
import { encodeParameter } from './parameter-status.ts';
import { joined } from './server-messages.ts';
import { StatementTexts } from './statement-texts.ts';

/** A longer unnamed statement is not kept. Bytes of the body of its Parse message. */
export const LONGEST_UNNAMED = 16_384;

const HEADER = 5;
const PARSE = 0x50;
/** They say how literals are read. The server tells each change (GUC_REPORT). */
const READING = new Set(['DateStyle', 'IntervalStyle', 'TimeZone', 'standard_conforming_strings']);
/** The server tells the texts of named statements in UTF-8. */
const ENCODING = 'client_encoding';
/** A character for each byte. */
const DECODER = new TextDecoder('latin1');

export interface RememberedFacts {
  readonly isUnnamedTooLong: boolean;
  readonly hiddenState: string | undefined;
  /** Settings that say how literals are read, and that changed when statements may have been prepared already. */
  readonly changedReading: readonly string[];
  /** The text of the unnamed statement, and the settings that say how it is read and have changed since. */
  readonly unsureUnnamed: { readonly text: string; readonly changedReading: readonly string[] } | undefined;
}

export class SessionMemory {
  readonly #share: (text: string) => string;
  /** One text, because a session has a dozen of them: name, NUL, value, NUL. Undefined until the login is over. */
  #told: string | undefined;
  #unnamed: Uint8Array | undefined;
  #unnamedSize = 0;
  #isUnnamedTooLong = false;
  #hasNamedStatement = false;
  /** None for most sessions. */
  #reading: Set<string> | undefined;
  /** Since the unnamed statement. */
  #readingSince: Set<string> | undefined;
  /** Settings with a dot that came with the last move. */
  #carried: readonly string[] = [];
  readonly texts = new StatementTexts();

  /** `share`: gives the same string for equal texts, because most sessions of an application are told the same. */
  constructor(share: (text: string) => string = (text) => text) {
    this.#share = share;
  }

  /** The login is over, in which the client was told these parameters. */
  begins(told: ReadonlyMap<string, string>): void {
    this.#keep(told);
  }

  /** As the client was told last. */
  told(): ReadonlyMap<string, string> {
    const parts = (this.#told ?? '').split('\0');
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
    return this.#unnamedSize === 0 ? undefined : this.#unnamed?.slice(0, this.#unnamedSize);
  }

  /** Of custom settings that the session may have. A library's own is one of them until the library is loaded. */
  names(): readonly string[] {
    return [...this.texts.names(), ...this.#carried];
  }

  /** The session has moved with this state. The next server need not show the names of all of it. */
  carries({ settings, custom }: CarriedState): void {
    this.#carried = [...settings.keys(), ...custom.keys()].filter((name) => name.includes('.'));
  }

  /** For the decision whether the session can move. */
  facts(): RememberedFacts {
    const hiddenState = this.texts.hiddenState() ?? this.texts.computedName();
    const changedReading = [...(this.#reading ?? [])];
    return { isUnnamedTooLong: this.#isUnnamedTooLong, hiddenState, changedReading, unsureUnnamed: this.#unsure() };
  }

  /** The server tells a parameter. During the login `begins` is still to come. */
  tells(name: string, value: string): void {
    if (this.#told === undefined) return;
    const told = this.told();
    const before = told.get(name);
    if (before === value) return;
    const mayHavePrepared = this.#hasNamedStatement || this.texts.hasPrepare();
    const isReading = before !== undefined && READING.has(name);
    if (isReading && mayHavePrepared) (this.#reading ??= new Set()).add(name);
    if ((isReading || name === ENCODING) && this.#unnamedSize > 0) (this.#readingSince ??= new Set()).add(name);
    this.#keep(new Map([...told, [name, value]]));
  }

  /** The client sends Parse: of its body, the `size` bytes from `at`, with one more than the limit at most. */
  parses(bytes: Uint8Array, at: number, size: number): void {
    const nameEnd = bytes.indexOf(0, at);
    this.texts.read(bytes, nameEnd + 1, at + size);
    if (nameEnd !== at) {
      this.#hasNamedStatement = true;
      return;
    }
    this.#forget();
    if (size > LONGEST_UNNAMED) {
      this.#isUnnamedTooLong = true;
      return;
    }
    const whole = HEADER + size;
    const kept = this.#unnamed !== undefined && this.#unnamed.length >= whole ? this.#unnamed : new Uint8Array(whole);
    kept[0] = PARSE;
    new DataView(kept.buffer).setInt32(1, 4 + size);
    kept.set(bytes.subarray(at, at + size), HEADER);
    this.#unnamed = kept;
    this.#unnamedSize = whole;
  }

  /** The client sends Query, which ends the unnamed statement (PostgreSQL, exec_simple_query). */
  queries(bytes: Uint8Array, at: number, size: number): void {
    this.#forget();
    this.texts.read(bytes, at, at + size);
  }

  /** More of the last Parse or Query, which was longer than was shown of it. */
  goesOn(bytes: Uint8Array, from: number, end: number): void {
    this.texts.readOn(bytes, from, end);
  }

  /** The client sends Close, with these first two bytes of its body. */
  closes(kind: number | undefined, name: number | undefined): void {
    if (kind === 0x53 && name === 0) this.#forget();
  }

  #keep(told: ReadonlyMap<string, string>): void {
    this.#told = this.#share([...told].map(([name, value]) => `${name}\0${value}\0`).join(''));
  }

  #unsure(): RememberedFacts['unsureUnnamed'] {
    if (this.#readingSince === undefined) return undefined;
    // Behind the empty name.
    const [text = ''] = DECODER.decode(this.unnamed()?.subarray(HEADER + 1)).split('\0', 1);
    return { text, changedReading: [...this.#readingSince] };
  }

  #forget(): void {
    this.#unnamedSize = 0;
    this.#readingSince = undefined;
    this.#isUnnamedTooLong = false;
  }
}
