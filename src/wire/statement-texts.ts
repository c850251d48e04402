// Reads two things in the statements of a client, because no catalog tells them: the names of custom settings, and
// statements that leave hidden state. A name too many does no harm. Everything else of the state is asked.

/** A session with more names stays. */
const MOST_NAMES = 100;
const LONGEST_NAME = 100;
/** Nothing is looked for in a text without one of these. */
const SUSPICIOUS = /set|load|dblink_connect|origin_session_setup/i;
const NAME = String.raw`"?([a-z_\u0080-\uffff][\w$\u0080-\uffff]*"?(?:\."?[a-z_\u0080-\uffff][\w$\u0080-\uffff]*"?)+)`;
/** SET a.b, set_config('a.b', current_setting('a.b' */
const NAMES = new RegExp(
  String.raw`(?:\bset\s+(?:session\s+|local\s+)?|\b(?:set_config|current_setting)\s*\(\s*e?')${NAME}`,
  'gi',
);
/** A name that is no literal, in a call that is not for its transaction alone. */
const COMPUTED = /\bset_config\s*\(\s*(?!\s|e?'[^'\\]*'\s*,)(?![^()]*,\s*(?:is_local\s*=>\s*)?true\s*\))/i;
const HIDDEN = /(?:^|;)\s*load\s|\b(?:setseed|dblink_connect(?:_u)?|pg_replication_origin_session_setup)\s*\(/i;
const SEED = /\bset\s+(?:session\s+)?seed\b/i;
const NOT_ASCII = /[\u0080-\uffff]/;
/** A character for each byte; the few that windows-1252 changes are in no name. */
const DECODER = new TextDecoder('latin1');

export class StatementTexts {
  /** None for most sessions. */
  #names: Set<string> | undefined;
  #hidden: string | undefined;
  #computed: string | undefined;

  /** Of the custom settings that the client has named. */
  names(): readonly string[] {
    return [...(this.#names ?? [])];
  }

  /** For people: the statement that left state which no catalog shows. */
  hiddenState(): string | undefined {
    return this.#hidden;
  }

  /** For people: a setting was set whose name the text does not have. */
  computedName(): string | undefined {
    return this.#computed;
  }

  /** The text from `from` to its NUL, or to `end`. */
  read(bytes: Uint8Array, from: number, end: number): void {
    const nul = bytes.indexOf(0, from);
    const text = DECODER.decode(bytes.subarray(from, nul === -1 ? end : Math.min(nul, end)));
    if (!SUSPICIOUS.test(text)) return;
    this.#hidden ??= (HIDDEN.exec(text) ?? SEED.exec(text))?.[0].replace(/^[;\s]+/, '').trim();
    this.#computed ??= COMPUTED.exec(text)?.[0].trim();
    for (const [, name = ''] of text.matchAll(NAMES)) this.#learn(name.replaceAll('"', ''));
  }

  #learn(name: string): void {
    const names = (this.#names ??= new Set());
    // Its encoding is not known here.
    if (NOT_ASCII.test(name)) this.#hidden ??= 'a custom setting whose name is not ASCII';
    if (names.size < MOST_NAMES && name.length <= LONGEST_NAME) names.add(name);
    else if (!names.has(name)) this.#hidden ??= 'too many custom settings';
  }
}
