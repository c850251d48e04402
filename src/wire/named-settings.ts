// Custom settings (`app.tenant`) that functions, policies, views and the like of a database name. PostgreSQL lists
// custom settings nowhere, and a function may have set one without a word of it in the session's statements. All of it
// takes no setting of the session into account: no backslash, every name and operator qualified.
import type { NamedSettings } from '../model/moves.ts';
import { literal } from './sql-literals.ts';

/** Each part may be quoted. */
const PART = '"?[[:alpha:]_][[:alnum:]_$]*"?';
const NAME = `${PART}(?:[.]${PART})+`;
const SPACE = '[[:space:]]*';
const CALL = `(?:set_config|current_setting)"?${SPACE}[(]${SPACE}e?'+`;
const SET = 'set[[:space:]]+(?:session[[:space:]]+|local[[:space:]]+)?';
/** In the source of a function, quotes may be doubled. */
const NAMED = `(?:${CALL}|${SET})(${NAME})`;
/** A name that is no plain literal. */
const UNNAMED_CALL = `set_config(?!"?${SPACE}[(]${SPACE}e?'+${NAME})`;
/** Where such a call is, each literal may be its name: by a variable, or behind a comment. */
const LITERAL = `'(${NAME})'`;
/** A name that is put together, and not for its transaction alone. */
const FOR_TRANSACTION = `[^()]*,${SPACE}(?:is_local${SPACE}=>${SPACE})?true${SPACE}[)]`;
const COMPUTED_CALL = `set_config"?${SPACE}[(]${SPACE}(?!${SPACE}e?'+[^']+'+${SPACE},)(?!${FOR_TRANSACTION})`;
const COMPUTED_SET = `'${SPACE}set[[:space:]]+(?:session[[:space:]]+)?[[:alnum:]_."]*(?:'${SPACE}(?:[|][|]|,)|%)`;

/** More names are not asked for: the oldest objects come first, so that nobody pushes out the names of others. */
const MOST_NAMES = 200;
const LONGEST_NAME = 100;
const MOST_FUNCTIONS = 1_000;
/** Lower oids belong to PostgreSQL itself (FirstNormalObjectId). */
const OF_USERS = 'OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid';
const NOT_TEMPORARY = `NOT pg_catalog.starts_with(ns.nspname::pg_catalog.text, 'pg_temp_')`;
/** In a parsed expression: calls of set_config and of both current_setting, by their oids in pg_proc. */
const CALLS = '[:]funcid (?:2078|2077|3294) ';

/** Rows with an expression: `from` with the row as x and its table as r, and how the expression is read. */
interface Place {
  readonly from: string;
  readonly tree: string;
  readonly text: string;
}

function ofTable(catalog: string, table: string, tree: string, text: string): Place {
  const from = `pg_catalog.${catalog} AS x JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) x.${table}
      AND r.relpersistence OPERATOR(pg_catalog.<>) 't' AND x.oid ${OF_USERS} AND x.${tree} IS NOT NULL`;
  return { from, tree: `x.${tree}`, text };
}

const FUNCTIONS = `pg_catalog.pg_proc AS x JOIN pg_catalog.pg_namespace AS ns
      ON ns.oid OPERATOR(pg_catalog.=) x.pronamespace AND x.oid ${OF_USERS} AND ${NOT_TEMPORARY}`;
/** Of a domain, unless it belongs to nobody. */
const DOMAIN_CHECKS: Place = {
  from: `pg_catalog.pg_constraint AS x JOIN pg_catalog.pg_type AS r ON r.oid OPERATOR(pg_catalog.=) x.contypid
      AND x.oid ${OF_USERS} AND x.conbin IS NOT NULL`,
  tree: 'x.conbin',
  text: 'pg_catalog.pg_get_expr(x.conbin, 0)',
};
const DOMAIN_DEFAULTS: Place = {
  from: `pg_catalog.pg_type AS x JOIN pg_catalog.pg_namespace AS ns ON ns.oid OPERATOR(pg_catalog.=) x.typnamespace
      AND x.oid ${OF_USERS} AND x.typdefaultbin IS NOT NULL`,
  tree: 'x.typdefaultbin',
  text: 'pg_catalog.pg_get_expr(x.typdefaultbin, 0)',
};
const PLACES: readonly Place[] = [
  ofTable('pg_policy', 'polrelid', 'polqual', 'pg_catalog.pg_get_expr(x.polqual, x.polrelid)'),
  ofTable('pg_policy', 'polrelid', 'polwithcheck', 'pg_catalog.pg_get_expr(x.polwithcheck, x.polrelid)'),
  ofTable('pg_rewrite', 'ev_class', 'ev_action', 'pg_catalog.pg_get_ruledef(x.oid)'),
  ofTable('pg_rewrite', 'ev_class', 'ev_qual', 'pg_catalog.pg_get_ruledef(x.oid)'),
  ofTable('pg_attrdef', 'adrelid', 'adbin', 'pg_catalog.pg_get_expr(x.adbin, x.adrelid)'),
  ofTable('pg_constraint', 'conrelid', 'conbin', 'pg_catalog.pg_get_expr(x.conbin, x.conrelid)'),
  ofTable('pg_trigger', 'tgrelid', 'tgqual', 'pg_catalog.pg_get_triggerdef(x.oid)'),
  DOMAIN_CHECKS,
  DOMAIN_DEFAULTS,
];

const calls = (tree: string): string => `${tree}::pg_catalog.text OPERATOR(pg_catalog.~) ${literal(CALLS)}`;
const matches = (pattern: string): string => `s.source OPERATOR(pg_catalog.~*) ${literal(pattern)}`;
const all = (pattern: string, flags: string): string =>
  `SELECT m[1] FROM pg_catalog.regexp_matches(s.source, ${literal(pattern)}, '${flags}') AS m`;

/** PostgreSQL 14 and later keep some bodies parsed, without a source. To write one as text locks its tables. */
function functionsSql(serverMajor: number): string {
  const body =
    serverMajor >= 14
      ? `CASE WHEN ${calls('x.prosqlbody')} THEN pg_catalog.pg_get_function_sqlbody(x.oid) END`
      : 'NULL';
  const defaults = `CASE WHEN ${calls('x.proargdefaults')} THEN pg_catalog.pg_get_expr(x.proargdefaults, 0) END`;
  return `SELECT x.oid, true, pg_catalog.concat_ws(' ', x.prosrc, ${body}, ${defaults}) FROM ${FUNCTIONS}`;
}

/** The one value that a question gives: the names to ask for, and what is known of the database. */
export function namedSettingsInput(
  customNames: readonly string[],
  { version, names, computing }: NamedSettings,
): string {
  return JSON.stringify({ names: [...new Set([...customNames, ...names])], version, computing });
}

const IS_CHANGED = `(SELECT version FROM catalog) OPERATOR(pg_catalog.<>) (SELECT version FROM input)`;

/**
 * Parts of a WITH, for a statement whose $1 is that input in base64. `catalog(version)` is another text after each
 * change of an object that may name a setting: the ids of transactions only grow. `source` is empty unless it has
 * changed. Then `named(n)` has the names, and `computing(oid)` the functions that put a name together.
 */
export function namedSettingsSql(serverMajor: number): string {
  const rows = [FUNCTIONS, ...PLACES.map(({ from }) => from)].map((from) => `SELECT x.xmin FROM ${from}`);
  const others = PLACES.map(({ from, tree, text }) => `SELECT x.oid, false, ${text} FROM ${from} WHERE ${calls(tree)}`);
  return `input(names, version, computing) AS MATERIALIZED (
  SELECT d.doc OPERATOR(pg_catalog.->) 'names', d.doc OPERATOR(pg_catalog.->>) 'version',
    d.doc OPERATOR(pg_catalog.->) 'computing' FROM (
    SELECT pg_catalog.convert_from(pg_catalog.decode($1, 'base64'), 'UTF8')::pg_catalog.json) AS d(doc)
), catalog(version) AS MATERIALIZED (
  SELECT pg_catalog.concat_ws('.', pg_catalog.count(*), pg_catalog.sum(c.x::pg_catalog.text::pg_catalog.int8)) FROM (
    ${rows.join('\n    UNION ALL ')}) AS c(x)
), source(oid, is_function, source) AS MATERIALIZED (
  SELECT * FROM (
    ${[functionsSql(serverMajor), ...others].join('\n    UNION ALL ')}) AS s
  WHERE ${IS_CHANGED}
), named(n) AS MATERIALIZED (
  SELECT f.n FROM (
    SELECT pg_catalog.replace(x.n, '"', ''), pg_catalog.min(s.oid::pg_catalog.int8) FROM source AS s, LATERAL (
      ${all(NAMED, 'gi')} UNION ALL
      ${all(LITERAL, 'g')} WHERE ${matches(UNNAMED_CALL)}
    ) AS x(n) WHERE pg_catalog.length(x.n) OPERATOR(pg_catalog.<=) ${LONGEST_NAME} GROUP BY 1
  ) AS f(n, first) ORDER BY f.first LIMIT ${MOST_NAMES}
), computing(oid) AS MATERIALIZED (
  SELECT s.oid FROM source AS s WHERE s.is_function AND (${matches(COMPUTED_CALL)} OR ${matches(COMPUTED_SET)})
    AND s.source OPERATOR(pg_catalog.!~) ${literal(LITERAL)} AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
      AND d.objid OPERATOR(pg_catalog.=) s.oid AND d.deptype OPERATOR(pg_catalog.=) 'e')
  ORDER BY s.oid LIMIT ${MOST_FUNCTIONS}
)`;
}

/** The names to ask for, of both. */
export const CUSTOM_NAMES = `SELECT n FROM named UNION
    SELECT e FROM input AS i, pg_catalog.json_array_elements_text(i.names) AS e`;

/** Values of a JSON object: all that was found, null if nothing has changed; a function that concerns the session. */
export const NAMED_SETTINGS_VALUES = `'named', (SELECT pg_catalog.json_build_object('version', version,
    'names', (SELECT COALESCE(pg_catalog.json_agg(n), '[]'::pg_catalog.json) FROM named),
    'computing', (SELECT COALESCE(pg_catalog.json_agg(oid), '[]'::pg_catalog.json) FROM computing))
    FROM catalog WHERE ${IS_CHANGED}),
  'computing', (SELECT pg_catalog.json_agg(f.name) FROM (
    SELECT pg_catalog.format('%I.%I', ns.nspname, p.proname) FROM pg_catalog.pg_proc AS p
    JOIN pg_catalog.pg_namespace AS ns ON ns.oid OPERATOR(pg_catalog.=) p.pronamespace
    JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) p.proowner
    WHERE p.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT oid FROM computing UNION ALL
      SELECT o::pg_catalog.oid FROM input AS i, pg_catalog.json_array_elements_text(i.computing) AS o))
    AND (r.rolsuper OR pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
      OR ns.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false))
      OR r.oid OPERATOR(pg_catalog.=) (SELECT datdba FROM pg_catalog.pg_database
        WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()))
    ORDER BY p.oid LIMIT 1) AS f(name))`;
