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

/** `tag`: as CommandComplete has it, with its numbers of rows. */
export function commandOf(tag: string): string {
  return tag.replaceAll(/ \d+/g, '');
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

/**
 * `text`: of a Query or a Parse. Several statements are split at every semicolon, which only errs on the safe side.
 * `isSystemFirst`: no schema comes before pg_catalog in the search_path.
 */
export function effectOfText(text: string, isSystemFirst: boolean): Effect {
  if (text.length > LONGEST_TEXT) return 'dirty';
  const plain = withoutPlainQuotes(text.toLowerCase());
  const parts = text.split(';').map((part) => part.toLowerCase().replaceAll(/\s+/g, ' ').trim());
  const clean = isSystemFirst ? CLEAN_TEXT : QUALIFIED_CLEAN_TEXT;
  if (parts.every((part) => clean.test(part))) return 'clean';
  return [DIRTY_STATEMENT, DIRTY_FUNCTION, SELECT_INTO].some((words) => words.test(plain)) ? 'dirty' : 'unsure';
}

/** Without literals that are certainly literals: a value is no statement. */
function withoutPlainQuotes(text: string): string {
  return text.includes('\\') || text.includes('$') ? text : text.replaceAll(/'[^']*'/g, "''");
}
