// Custom settings (`app.tenant`) that functions and row policies of a database name. PostgreSQL lists custom settings
// nowhere, and a function may have set one without a word of it in the session's statements.
import { literal } from './sql-literals.ts';

/** Each part may be quoted. */
const PART = '"?[[:alpha:]_][[:alnum:]_$]*"?';
const NAME = `${PART}(?:[.]${PART})+`;
const CALL = "(?:set_config|current_setting)[[:space:]]*[(][[:space:]]*e?'+";
const SET = 'set[[:space:]]+(?:session[[:space:]]+|local[[:space:]]+)?';
/** In the source of a function, quotes may be doubled. Without a name: a call whose name is no plain literal. */
const PATTERN = `(?:${CALL}|${SET})(${NAME})|set_config`;
/** Where such a call is, each literal may be its name: by a variable, or behind a comment. */
const LITERAL = `'(${NAME})'`;

/** Lower oids belong to PostgreSQL itself (FirstNormalObjectId). */
const FIRST_OF_USERS = 16_384;

/**
 * An SQL query with one column of type text: the names, each once. It takes no setting of the session into account: no
 * backslash, every name and operator qualified. PostgreSQL 14 and later keep some bodies parsed, without a source.
 */
export function namedSettingsSql(serverMajor: number): string {
  const source =
    serverMajor >= 14
      ? 'CASE WHEN p.prosqlbody IS NULL THEN p.prosrc ELSE pg_catalog.pg_get_function_sqlbody(p.oid) END'
      : 'p.prosrc';
  return `SELECT DISTINCT pg_catalog.replace(n, '"', '') FROM (
    SELECT ${source} FROM pg_catalog.pg_proc AS p
    WHERE p.oid OPERATOR(pg_catalog.>=) ${FIRST_OF_USERS}::pg_catalog.oid
    UNION ALL
    SELECT pg_catalog.concat_ws(' ', pg_catalog.pg_get_expr(y.polqual, y.polrelid),
      pg_catalog.pg_get_expr(y.polwithcheck, y.polrelid))
    FROM pg_catalog.pg_policy AS y
  ) AS t(source), pg_catalog.regexp_matches(t.source, ${literal(PATTERN)}, 'gi') AS m, LATERAL (
    SELECT m[1] WHERE m[1] IS NOT NULL UNION ALL
    SELECT l[1] FROM pg_catalog.regexp_matches(t.source, ${literal(LITERAL)}, 'g') AS l WHERE m[1] IS NULL
  ) AS x(n)`;
}
