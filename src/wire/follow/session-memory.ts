// Keeps, of a session that may move, as much as no server can tell: the parameters as its client knows them, the last
// unnamed statement, and the names of custom settings in its statements. The followers fill it.
import { READING_SETTINGS, TOLD_READING_SETTINGS, type CarriedState, type RememberedFacts } from '../../model/moves.ts';
import { MOST_TOLD_BYTES, encodeParameter } from '../messages/parameter-status.ts';
import { joined } from '../messages/server-messages.ts';
import type { CarriedUnnamed } from '../talk/session-restore.ts';
import { StatementTexts } from './statement-texts.ts';
import type { StatementWatch } from './statement-watch.ts';
import { UnnamedStatement } from './unnamed-statement.ts';

/** The kind of a Close: a statement. */
const STATEMENT = 0x53;
const READING: ReadonlySet<string> = new Set(TOLD_READING_SETTINGS);
/** The server tells the texts of named statements in UTF-8. */
const ENCODING = 'client_encoding';

export class SessionMemory {
  readonly #share: (text: string) => string;
  /** One text, because a session has a dozen of them: name, NUL, value, NUL. Undefined until the login is over. */
  #told: string | undefined;
  /** None before the first Parse or Close. */
  #unnamed: UnnamedStatement | undefined;
  /** The client has sent a request since the session was idle last. */
  #isUnderWay = false;
  #hasNamedStatement = false;
  /** None for most sessions. */
  #reading: Set<string> | undefined;
  /** Settings with a dot that came with the last move. */
  #carried: readonly string[] = [];
  readonly texts = new StatementTexts();
  /** Reads the statements as well. Undefined: nobody asks whether they left state. */
  watch: StatementWatch | undefined;

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
    return this.#unnamed?.message();
  }

  /** Its text, with a character for each byte. */
  unnamedText(): string | undefined {
    return this.#unnamed?.text();
  }

  /** For a session that goes on with this state. */
  carriedUnnamed({ unnamed }: CarriedState): CarriedUnnamed | undefined {
    const message = this.unnamed();
    if (message === undefined || unnamed === 'refused') return undefined;
    return { message, encoding: this.told().get(ENCODING), description: unnamed };
  }

  /** Names of custom settings that the session may have. A library's count as custom until the library is loaded. */
  names(): readonly string[] {
    return [...this.texts.names(), ...this.#carried];
  }

  /** The session has moved with this state. The next server need not show the names of all of it. */
  carries({ settings, custom, unnamed }: CarriedState): void {
    if (unnamed === 'refused') this.#unnamed?.forget();
    this.#carried = [...settings.keys(), ...custom.keys()].filter((name) => name.includes('.'));
  }

  /** For the decision whether the session can move. */
  facts(): RememberedFacts {
    const hiddenState = this.texts.hiddenState() ?? this.texts.computedName();
    const untold = this.texts.untoldReading();
    const text = this.unnamedText();
    const changedReading = [...(this.#unnamed?.changedReading() ?? []), ...untold];
    return {
      isUnnamedTooLong: this.#unnamed?.isTooLong() === true,
      isUnnamedInDoubt: this.#unnamed?.isInDoubt() === true,
      hiddenState,
      changedReading: [...(this.#reading ?? []), ...untold],
      preparedNames: this.texts.preparedNames(),
      unsureUnnamed: text !== undefined && changedReading.length > 0 ? { text, changedReading } : undefined,
    };
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
    if (isReading || name === ENCODING) this.#unnamed?.readingChanges(name);
    const size = this.#told.length + name.length + value.length - (before?.length ?? 0);
    // As its client was told before: it is told again with the next move.
    if (size <= MOST_TOLD_BYTES) this.#keep(new Map([...told, [name, value]]));
  }

  /** The client sends Parse: of its body, the `size` bytes from `at`, with one more than the limit at most. */
  parses(bytes: Uint8Array, at: number, size: number): void {
    const isHarmless = this.watch?.parses(bytes, at, size) === true;
    const nameEnd = isHarmless ? at : bytes.indexOf(0, at);
    if (this.texts.changesReading()) this.#readOtherwise();
    if (isHarmless) this.texts.isHarmless();
    else if (nameEnd !== -1 && nameEnd < at + size) this.texts.read(bytes, nameEnd + 1, at + size);
    else this.texts.isNotShown();
    const isFirst = !this.#isUnderWay;
    this.#isUnderWay = true;
    this.#unnamed ??= new UnnamedStatement();
    if (nameEnd === at && size > 0) return this.#unnamed.parses(bytes, at, size, isFirst);
    this.#hasNamedStatement = true;
    return this.#unnamed.parsesOther();
  }

  /** The client sends Query. */
  queries(bytes: Uint8Array, at: number, size: number): void {
    const isHarmless = this.watch?.queries(bytes, at, size) === true;
    this.#isUnderWay = true;
    this.#unnamed?.queries();
    if (isHarmless) return this.texts.isHarmless();
    this.texts.read(bytes, at, at + size);
    if (this.texts.preparesOtherwise()) this.#readOtherwise();
    return undefined;
  }

  /** More of the last Parse or Query, which was longer than was shown of it. */
  goesOn(bytes: Uint8Array, from: number, end: number): void {
    this.texts.readOn(bytes, from, end);
  }

  /** The client sends Bind. */
  binds(bytes: Uint8Array, at: number, size: number): void {
    this.watch?.binds(bytes, at, size);
    this.#isUnderWay = true;
  }

  /** The client sends FunctionCall. `oid`: of the function; undefined: not understood. */
  calls(oid: number | undefined): void {
    this.watch?.calls();
    this.#isUnderWay = true;
    if (oid !== undefined) this.texts.calls(oid);
  }

  /** The client sends Close, with these first two bytes of its body. */
  closes(kind: number | undefined, name: number | undefined): void {
    this.watch?.closes(kind);
    this.#isUnderWay = true;
    this.#unnamed ??= new UnnamedStatement();
    if (kind === STATEMENT && name === 0) this.#unnamed.closes();
    else this.#unnamed.closesOther();
  }

  /** The client sends another request. */
  requests(): void {
    this.#isUnderWay = true;
  }

  /** The server: ParseComplete. */
  parsed(): void {
    this.#unnamed?.parsed();
  }

  /** The server: CloseComplete. */
  closed(): void {
    this.#unnamed?.closed();
  }

  /** The server: ErrorResponse. */
  fails(sqlState: string): void {
    this.#unnamed?.fails(sqlState);
  }

  /** Everything is answered. `isBetween`: between two transactions. */
  settles(isBetween: boolean): void {
    if (isBetween) this.watch?.settles();
    this.#isUnderWay = false;
    this.texts.settles();
    this.#unnamed?.settles();
  }

  /** A statement may be prepared while a setting is another one, which the server never tells if it is set back. */
  #readOtherwise(): void {
    this.#reading = new Set(READING_SETTINGS);
  }

  #keep(told: ReadonlyMap<string, string>): void {
    this.#told = this.#share([...told].map(([name, value]) => `${name}\0${value}\0`).join(''));
  }
}
