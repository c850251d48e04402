// The settings of one session, with transactions: a rollback takes back what a transaction has set, and SET LOCAL ends
// with it.

/** A session begins with them. Those that a server tells its clients (GUC_REPORT) come first. */
const DEFAULTS: Readonly<Record<string, string>> = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  default_transaction_read_only: 'off',
  IntervalStyle: 'postgres',
  standard_conforming_strings: 'on',
  TimeZone: 'Etc/UTC',
  application_name: '',
  array_nulls: 'on',
  backslash_quote: 'safe_encoding',
  jit: 'on',
  lc_monetary: 'C',
  lock_timeout: '0',
  role: 'none',
  search_path: '"$user", public',
  statement_timeout: '0',
  synchronous_commit: 'on',
  timezone_abbreviations: 'Default',
  transform_null_equals: 'off',
  work_mem: '4MB',
  xmloption: 'content',
};
/** No row of pg_settings has it. */
const UNLISTED = 'role';
const NAMES = new Map(Object.keys(DEFAULTS).map((name) => [name.toLowerCase(), name]));

/** With the spelling that the server uses. */
export function settingName(name: string): string {
  return NAMES.get(name.toLowerCase()) ?? name;
}

export class Settings {
  /** By the startup packet. */
  readonly #startup: ReadonlyMap<string, string>;
  /** By the file of the server. */
  readonly #file: ReadonlyMap<string, string>;
  #session = new Map<string, string>();
  readonly #local = new Map<string, string>();
  /** A custom setting that was set once is there, with an empty value, also behind a rollback. */
  readonly #customNames = new Set<string>();
  /** As they were when the transaction began. */
  #before: ReadonlyMap<string, string> | undefined;

  constructor(startup: ReadonlyMap<string, string>, file: ReadonlyMap<string, string> = new Map()) {
    this.#startup = startup;
    this.#file = file;
  }

  /** Undefined: a custom setting that was never set, or no setting at all. */
  value(name: string): string | undefined {
    const set = this.#local.get(name) ?? this.#session.get(name) ?? this.#startup.get(name);
    return set ?? this.#file.get(name) ?? DEFAULTS[name] ?? (this.#customNames.has(name) ? '' : undefined);
  }

  isKnown(name: string): boolean {
    return name.includes('.') || DEFAULTS[name] !== undefined;
  }

  set(name: string, value: string, isLocal: boolean): void {
    if (name.includes('.')) this.#customNames.add(name);
    if (isLocal) this.#local.set(name, value);
    else {
      this.#local.delete(name);
      this.#session.set(name, value);
    }
  }

  /** Undefined: all but the role. */
  reset(name?: string): void {
    for (const one of name === undefined ? [...this.#session.keys()] : [name]) {
      if (name === undefined && one === UNLISTED) continue;
      this.#session.delete(one);
      this.#local.delete(one);
    }
  }

  /** The rows of pg_settings that the session has set: no custom one is among them. */
  ofSession(): ReadonlyMap<string, string> {
    const names = [...this.#session.keys(), ...this.#local.keys()];
    const listed = names.filter((name) => name !== UNLISTED && !name.includes('.'));
    return new Map(listed.map((name) => [name, this.value(name) ?? '']));
  }

  begin(): void {
    this.#before ??= new Map(this.#session);
  }

  commit(): void {
    this.#local.clear();
    this.#before = undefined;
  }

  rollback(): void {
    if (this.#before !== undefined) this.#session = new Map(this.#before);
    this.commit();
  }
}
