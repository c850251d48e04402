// Whether a statement may have left state in its session, as far as that is certain without the server: by the tag of
// its CommandComplete, which is the server's word, and by its text. Pure.

/**
 * `clean`: certainly none, and no data was shown. `unsure`: none that can be seen, but a function, a trigger or a view
 * may have left some. `dirty`: probably some.
 */
export type Effect = 'clean' | 'unsure' | 'dirty';

/** A longer text is not read. Bytes. */
export const LONGEST_TEXT = 8_192;

const ORDER: readonly Effect[] = ['clean', 'unsure', 'dirty'];

export function worse(a: Effect, b: Effect): Effect {
  return ORDER[Math.max(ORDER.indexOf(a), ORDER.indexOf(b))] ?? 'dirty';
}

/** A rollback undoes state that was counted before. */
const CLEAN_TAGS = new Set(['BEGIN', 'START TRANSACTION', 'COMMIT', 'ROLLBACK', 'SAVEPOINT', 'RELEASE', 'SHOW']);
/** Their text tells more: `SELECT` also ends SELECT INTO and CREATE TABLE AS. */
const ROW_TAGS = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY', 'FETCH', 'MOVE', 'EXPLAIN']);

const BLANK = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;
const ZERO = 0x30;
const NINE = 0x39;
/** The bit that makes a small letter of a capital. */
const CASE = 0x20;
/** The last byte of ASCII. */
const ASCII = 0x7f;

/** The tag of a CommandComplete without the numbers of rows at its end. Its body is the `size` bytes from `at`. */
export function commandAt(bytes: Uint8Array, at: number, size: number): string {
  let command = '';
  for (let index = at; index < at + size; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === 0 || (byte === BLANK && isDigit(bytes[index + 1] ?? 0))) break;
    command += String.fromCharCode(byte);
  }
  return command;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** As far as the command tells, beside the text. */
export function effectOfCommand(command: string): Effect {
  return CLEAN_TAGS.has(command) || ROW_TAGS.has(command) ? 'clean' : 'dirty';
}

const NAME = String.raw`[a-z_][a-z0-9_]*`;
const LITERAL = String.raw`(?:-?\d+(?:\.\d+)?|'[^'\\]*'|true|false|null)`;
/** They show nothing of the database but its name, and leave nothing. */
const CALL = String.raw`(?:now|version|current_database|pg_backend_pid|clock_timestamp)\(\)`;
const KEYWORD = 'current_(?:user|date|time|timestamp|role|catalog)|session_user|user';
const LEVEL = 'isolation level (?:serializable|repeatable read|read (?:un)?committed)';
const MODES = `(?:,? ?(?:${LEVEL}|read (?:only|write)|(?:not )?deferrable))*`;
/** `schema`: of the functions, with its dot. */
function cleanText(schema: string): RegExp {
  const value = String.raw`(?:${LITERAL}|${schema}${CALL}|${KEYWORD})(?: as ${NAME}| as "[^"]*")?`;
  return new RegExp(
    `^(?:${[
      '',
      String.raw`(?:begin|start transaction)(?: (?:work|transaction))?(?: ?${MODES})?`,
      '(?:commit|end|rollback|abort)(?: (?:work|transaction))?',
      `(?:savepoint|release|release savepoint|rollback to|rollback to savepoint) ${NAME}`,
      `show (?:${NAME}(?:\\.${NAME})?|transaction isolation level)`,
      `select ${value}(?: ?, ?${value})*`,
    ].join('|')})$`,
  );
}

const CLEAN_TEXT = cleanText(String.raw`(?:pg_catalog\.)?`);
const QUALIFIED_CLEAN_TEXT = cleanText(String.raw`pg_catalog\.`);
/** Statements that leave state, at the beginning of the text or behind a semicolon. Their tag tells as well. */
const DIRTY_STATEMENT =
  /(?:^|;)\s*(?:set|reset|discard|prepare|deallocate|listen|unlisten|declare|close|create|alter|drop|load|do|call)\b/;
const DIRTY_FUNCTION = /\b(?:set_config|setseed|nextval|setval|pg_\w*advisory\w*|dblink\w*|lo_\w+)\b/;
/** A new table. */
const SELECT_INTO = /(?<!\b(?:insert|merge)\s+)\binto\b/;

/** A text without one of these, and without a clean beginning, is unsure. */
export const TELLING_WORDS: readonly string[] = `set discard prepare deallocate listen declare close create alter drop
  load do$ call nextval advisory dblink lo_ into begin transaction commit end rollback abort savepoint release
  show`.split(/\s+/);
const SELECT = 'select';
const SEMICOLON = 0x3b;
const QUOTE = 0x27;
const MINUS = 0x2d;
const VALUES = ['true', 'false', 'null', 'pg_', 'now', 'version', 'current_', 'clock_', 'session_user', 'user'];
/** Every clean text begins so. Most other texts do not, and need not be taken apart. */
const CLEAN_BEGINNING = new RegExp(
  String.raw`^\s*(?:$|;|(?:begin|start|commit|end|rollback|abort|savepoint|release|show)\b|` +
    String.raw`select\s+(?:[-\d']|${VALUES.join('|')}))`,
);

/**
 * A text without telling words stands at `at`, with a NUL behind it. False: it is unsure for certain, because it begins
 * neither with nothing nor with the SELECT of a value.
 */
export function mayBeClean(bytes: Uint8Array, at: number): boolean {
  const first = behindBlanks(bytes, at);
  const begins = bytes[first] ?? 0;
  if (begins === 0 || begins === SEMICOLON || begins > ASCII) return true;
  if (!beginsWith(bytes, first, SELECT)) return false;
  const value = behindBlanks(bytes, first + SELECT.length);
  const byte = bytes[value] ?? 0;
  if (byte === QUOTE || byte === MINUS || byte > ASCII || isDigit(byte)) return true;
  return VALUES.some((word) => beginsWith(bytes, value, word));
}

/** Blanks of ASCII; others are beyond it. */
function behindBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isBlank(bytes[at] ?? 0)) at += 1;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === BLANK || (byte >= TAB && byte <= RETURN);
}

/** `word`: letters in lower case. */
function beginsWith(bytes: Uint8Array, at: number, word: string): boolean {
  for (let index = 0; index < word.length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    const code = word.charCodeAt(index);
    if (byte !== code && (byte | CASE) !== code) return false;
  }
  return true;
}

/** Anything but one space. */
const WIDE_BLANK = /\s{2}|[^\S ]/;

/**
 * `text`: of a Query or a Parse. Several statements are split at every semicolon, which only errs on the safe side.
 * `isSystemFirst`: no schema comes before pg_catalog in the search_path.
 */
export function effectOfText(text: string, isSystemFirst: boolean): Effect {
  if (text.length > LONGEST_TEXT) return 'dirty';
  const lower = text.toLowerCase();
  if (CLEAN_BEGINNING.test(lower) && isClean(lower, isSystemFirst)) return 'clean';
  const plain = withoutPlainQuotes(lower);
  return [DIRTY_STATEMENT, DIRTY_FUNCTION, SELECT_INTO].some((words) => words.test(plain)) ? 'dirty' : 'unsure';
}

function isClean(lower: string, isSystemFirst: boolean): boolean {
  const clean = isSystemFirst ? CLEAN_TEXT : QUALIFIED_CLEAN_TEXT;
  const plain = WIDE_BLANK.test(lower) ? lower.replaceAll(/\s+/g, ' ') : lower;
  return plain.split(';').every((part) => clean.test(part.trim()));
}

/** Without literals that are certainly literals: a value is no statement. */
function withoutPlainQuotes(text: string): string {
  return text.includes('\\') || text.includes('$') ? text : text.replaceAll(/'[^']*'/g, "''");
}
