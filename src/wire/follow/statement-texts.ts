// Reads three things in the statements of a client, because no catalog tells them: the names of custom settings,
// statements that leave hidden state, and whether statements were prepared. A name too many does no harm. Everything
// else of the state is asked.

import { READING_SETTINGS, UNTOLD_READING_SETTINGS } from '../../model/moves.ts';
import { finderOf } from './word-finder.ts';

/** A session with more names stays. */
const MOST_NAMES = 100;
const LONGEST_NAME = 100;
/** So much of a text that arrives in parts is read again with the next part. Characters. */
const OVERLAP = 512;
/** An overlap has at least so much, without blanks and comments. Characters. */
const SHORTEST_REST = 128;
/** Nothing is looked for in a text without one of these. */
export const SUSPICIOUS_WORDS = 'set|load|dblink_connect|origin_session_setup|backup|prepare|execute'.split('|');
const SUSPICIOUS = new RegExp(SUSPICIOUS_WORDS.join('|'), 'i');
const LASTING = String.raw`\bset\s+(?:session\s+)?`;
const SET = String.raw`\bset\s+(?:session\s+|local\s+)?`;
const PART = String.raw`"?[a-z_\u0080-\uffff][\w$\u0080-\uffff]*"?`;
/** SET a.b */
const SET_NAMES = new RegExp(String.raw`${SET}(${PART}(?:\s*\.\s*${PART})+)`, 'gi');
/** set_config('a.b', current_setting('a.b'. PostgreSQL before 14 takes any name with a dot. */
const CALL_NAMES = /\b(?:set_config|current_setting)"?\s*\(\s*e?'([^'\\.]*\.[^'\\]*)'/gi;
/** A name that is no literal, in a call that is not for its transaction alone. */
const COMPUTED_CALL = /\bset_config"?\s*\(\s*(?!\s|e?'[^'\\|()]*'\s*,)(?![^()]*,\s*(?:is_local\s*=>\s*)?true\s*\))/i;
const QUOTE = String.raw`(?:'|\$\w*\$)`;
/** A SET that is put together: `'set ' ||`, format('set %I */
const COMPUTED_SET = new RegExp(String.raw`(?:${QUOTE}|;)\s*${LASTING}[\w."]*(?:${QUOTE}\s*(?:\|\||,)|%)`, 'i');
const COMPUTED = [COMPUTED_CALL, COMPUTED_SET];
const LITERAL = /'[^']*'/g;
const DO = /(?:^|;)\s*do\s+(?:language\b|e?'|\$)/i;
const findSuspicious = finderOf([...SUSPICIOUS_WORDS, 'do$']);
/** Their EXECUTE, whatever its name, is another one. */
const OTHER_LANGUAGE = new RegExp(String.raw`(?:\bdo|${QUOTE})\s*\blanguage\s+(?!['"]?plpgsql\b)['"]?\w+`, 'i');
const HARMLESS_WORDS = `alter analyze comment copy create delete discard drop grant insert lock merge notify prepare
  refresh reindex reset revoke select truncate update vacuum with`.split(/\s+/);
const HARMLESS = String.raw`(?:${HARMLESS_WORDS.join('|')}|set\s+local)\b`;
const NAMED_SET = String.raw`${LASTING}${PART}(?:\s*\.\s*${PART})*\s*(?:=|to\b)`;
/** Before a text: parentheses, format or concat. */
const OPENING = String.raw`(?:\(\s*)*(?:(?:pg_catalog\.)?(?:format|concat)\s*\(\s*)?e?(?:'+|\$\w*\$)\s*`;
/** In a DO: EXECUTE of a text that is no literal, or whose beginning does not tell what it sets. */
const UNKNOWN_EXECUTE = new RegExp(
  String.raw`\bexecute\b\s*(?!\s|(?:on|function|procedure)\b|${OPENING}(?:${HARMLESS}|${NAMED_SET}))`,
  'i',
);
const HIDDEN = [
  /(?:^|;)\s*load\s|'\s*load\s+''/i,
  /\b(?:setseed|dblink_connect(?:_u)?|pg_replication_origin_session_setup)"?\s*\(/i,
  // The server drops a backup when the session that began it ends.
  /\bpg_(?:backup_start|start_backup)"?\s*\(/i,
  /\bset_config"?\s*\(\s*e?'seed'/i,
  new RegExp(String.raw`${SET}"?seed\b`, 'i'),
];
const ESCAPED_NAME = new RegExp(String.raw`${SET}(?:${PART}\s*\.\s*)*u&"`, 'i');
const PREPARES = /\bprepare\b/i;
const CHANGE = String.raw`\b(?:re)?set(?:_config"?\s*\(\s*e?'+|\s+(?:session\s+|local\s+)?"?)`;
/** SET and RESET of a setting that says how literals are read. */
const READING = new RegExp(String.raw`${CHANGE}(?:time\s+zone|${READING_SETTINGS.join('|')})\b`, 'i');
const UNTOLD = new RegExp(String.raw`${CHANGE}(${UNTOLD_READING_SETTINGS.join('|')})\b`, 'gi');
const PREPARED = /\bprepare\s+(?:"((?:[^"]|""){1,200})"|([a-z_][\w$]*))/gi;
const NOT_ASCII = /[\u0080-\uffff]/;
const INNER_COMMENT = /\/\*(?:(?!\/\*|\*\/)[^])*\*\//g;
const LINE_COMMENT = /--[^\n]*/g;
/** Comments that are in comments. */
const MOST_DEEP = 8;
/** A character for each byte; the few that windows-1252 changes are in no name. */
const DECODER = new TextDecoder('latin1');

export class StatementTexts {
  /** None for most sessions. */
  #names: Set<string> | undefined;
  #hidden: string | undefined;
  #computed: string | undefined;
  #hasPrepare = false;
  /** The names of statements prepared in SQL. None for most sessions. */
  #prepared: Set<string> | undefined;
  /** Settings, of all texts. None for most sessions. */
  #untold: Set<string> | undefined;
  // In texts since `settles`:
  #changesReading = false;
  #prepares = false;
  /** The text that is under way has a DO. */
  #hasDo = false;
  /** The end of what was read of the text that is under way. Undefined: it was read to its end. */
  #open: string | undefined;

  /** The custom settings that the client has named. */
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

  /** A text had the word PREPARE. */
  hasPrepare(): boolean {
    return this.#hasPrepare;
  }

  /** The names behind PREPARE, as the server has them. */
  preparedNames(): readonly string[] {
    return [...(this.#prepared ?? [])];
  }

  /** Settings that say how literals are read, that the client has changed, and whose changes no server tells. */
  untoldReading(): readonly string[] {
    return [...(this.#untold ?? [])];
  }

  /** How literals are read has changed since `settles`. */
  changesReading(): boolean {
    return this.#changesReading;
  }

  /** As above, in one turn with PREPARE. */
  preparesOtherwise(): boolean {
    return this.#changesReading && this.#prepares;
  }

  /** The session is idle: the server has told what is different. */
  settles(): void {
    this.#changesReading = false;
    this.#prepares = false;
  }

  /** The text from `from` to its NUL, or to `end`; then the rest of it follows. */
  read(bytes: Uint8Array, from: number, end: number): void {
    if (findSuspicious(bytes, from, end) !== -1) return this.isHarmless();
    this.#open = '';
    this.#hasDo = false;
    return this.readOn(bytes, from, end);
  }

  /** A whole text that has none of the suspicious words, and no DO. */
  isHarmless(): void {
    this.#open = undefined;
  }

  /** The rest of the text, or a part of it. Nothing happens behind its NUL. */
  readOn(bytes: Uint8Array, from: number, end: number): void {
    if (this.#open === undefined) return;
    const nul = bytes.indexOf(0, from);
    const isWhole = nul !== -1 && nul < end;
    const text = this.#open + DECODER.decode(bytes.subarray(from, isWhole ? nul : end));
    this.#open = isWhole ? undefined : text.slice(-OVERLAP);
    this.#hasDo ||= DO.test(text);
    if (!this.#hasDo && !SUSPICIOUS.test(text)) return;
    const plain = withoutComments(text);
    this.#hasDo ||= DO.test(plain);
    if (!isWhole && isGap(text)) this.#hidden ??= 'a long gap in a statement';
    for (const one of plain === text ? [text] : [text, plain]) this.#find(one, isWhole);
  }

  /** The text begins behind what was shown of its message, because its name is that long. */
  isNotShown(): void {
    this.#open = undefined;
    this.#hidden ??= 'a statement whose name is too long';
  }

  /** The client calls a function by its object id (FunctionCall). */
  calls(oid: number): void {
    const name = FUNCTIONS.get(oid);
    if (name !== undefined) this.#hidden ??= `a FunctionCall of ${name}`;
  }

  #find(text: string, isWhole: boolean): void {
    this.#prepares ||= PREPARES.test(text);
    this.#hasPrepare ||= this.#prepares;
    this.#changesReading ||= READING.test(text);
    for (const [, name = ''] of text.matchAll(UNTOLD)) (this.#untold ??= new Set()).add(name.toLowerCase());
    for (const [, quoted, plain = ''] of text.matchAll(PREPARED)) {
      this.#learnPrepared(quoted?.replaceAll('""', '"') ?? plain.toLowerCase());
    }
    for (const pattern of HIDDEN) this.#hidden ??= bare(pattern.exec(text));
    if (ESCAPED_NAME.test(text)) this.#hidden ??= 'a custom setting whose name has escapes';
    const patterns = this.#hasDo ? [...COMPUTED, OTHER_LANGUAGE, UNKNOWN_EXECUTE] : COMPUTED;
    for (const pattern of patterns) this.#findComputed(pattern, text, isWhole);
    // A literal may have the end of a call in it.
    this.#findComputed(COMPUTED_CALL, text.replaceAll(LITERAL, "''"), isWhole);
    for (const [, name = ''] of text.matchAll(SET_NAMES)) this.#learn(name.replaceAll(/["\s]/g, ''));
    for (const [, name = ''] of text.matchAll(CALL_NAMES)) this.#learn(name);
  }

  #findComputed(pattern: RegExp, text: string, isWhole: boolean): void {
    const found = pattern.exec(text);
    // A call that is cut by the end of a part is read again as a whole.
    const isCut = !isWhole && found !== null && found.index + OVERLAP > text.length;
    if (!isCut) this.#computed ??= bare(found);
  }

  #learnPrepared(name: string): void {
    const names = (this.#prepared ??= new Set());
    if (names.size < MOST_NAMES) names.add(name);
  }

  #learn(name: string): void {
    const names = (this.#names ??= new Set());
    // Its encoding is not known here.
    if (NOT_ASCII.test(name)) this.#hidden ??= 'a custom setting whose name is not ASCII';
    if (names.size < MOST_NAMES && name.length <= LONGEST_NAME) names.add(name);
    else if (!names.has(name)) this.#hidden ??= 'too many custom settings';
  }
}

/** The overlap has little more than blanks and comments, so the words before these are not read with the next part. */
function isGap(text: string): boolean {
  if (text.length <= OVERLAP) return false;
  if (text.lastIndexOf('/*') > text.lastIndexOf('*/') || text.lastIndexOf('--') > text.lastIndexOf('\n')) return true;
  const tail = text.slice(-OVERLAP);
  const [open, close] = [tail.indexOf('/*'), tail.indexOf('*/')];
  const isCutComment = close !== -1 && (open === -1 || close < open);
  const rest = withoutComments(isCutComment ? tail.slice(close + 2) : tail);
  return rest.replaceAll(/\s+/g, ' ').length < SHORTEST_REST;
}

/** The words without the quote or semicolon before and the parenthesis after them. */
function bare(found: RegExpExecArray | null): string | undefined {
  return found?.[0].replace(/^[';\s]+/, '').replace(/["\s(]+$/, '');
}

/** In pg_proc of every version. */
const FUNCTIONS: ReadonlyMap<number, string> = new Map([
  [2078, 'set_config'],
  [1599, 'setseed'],
]);

/** A literal that looks like a comment is lost as well: so the text with comments is read, too. */
function withoutComments(text: string): string {
  let plain = text;
  for (let depth = 0; depth < MOST_DEEP && plain.includes('/*'); depth += 1) plain = plain.replace(INNER_COMMENT, ' ');
  return plain.replace(LINE_COMMENT, ' ');
}
