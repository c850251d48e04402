// Custom settings (`app.tenant`) that functions, policies, views and the like of a database name. PostgreSQL lists
// custom settings nowhere, and a function may have set one without a word of it in the session's statements. All of it
// takes no setting of the session into account: no backslash, every name and operator qualified.
import type { NamedSettings } from '../../model/moves.ts';
import { literal } from './sql-literals.ts';

/** Each part may be quoted. */
const PART = '"?[[:alpha:]_][[:alnum:]_$]*"?';
const NAME = `${PART}(?:[.]${PART})+`;
const SPACE = '[[:space:]]*';
const CALL = `(?:set_config|current_setting)"?${SPACE}[(]${SPACE}e?'+`;
const SET = 'set[[:space:]]+(?:session[[:space:]]+|local[[:space:]]+)?';
/** In the source of a function, quotes may be doubled. */
const NAMED = `(?:${CALL}|${SET})(${NAME})`;
/** A source without it has no names. */
const HINT = `set_config|current_setting|${SET}${NAME}|'${SPACE}set[[:space:]]`;
/** A name that is no plain literal. */
const UNNAMED_CALL = `set_config(?!"?${SPACE}[(]${SPACE}e?'+${NAME})`;
/** Where such a call is, each literal may be its name: by a variable, or behind a comment. */
const LITERAL = `'(${NAME})'`;
/** A name that is put together, and not for its transaction alone. No space before both: that would be quadratic. */
const FOR_TRANSACTION = `[^()]*,${SPACE}(?:is_local${SPACE}=>${SPACE})?true${SPACE}[)]`;
const COMPUTED_CALL = `set_config"?${SPACE}[(](?!${SPACE}e?'+[^']+'+${SPACE},)(?!${FOR_TRANSACTION})`;
const COMPUTED_SET = `'${SPACE}set[[:space:]]+(?:session[[:space:]]+)?[[:alnum:]_."]*(?:'${SPACE}(?:[|][|]|,)|%)`;

// The same in a parsed expression, read as PostgreSQL stores it: to write it as SQL waits for locks of its tables.
/** In pg_proc: set_config, and both current_setting. */
const OIDS = [2078, 2077, 3294];
const TREE_CALL = `:funcid (?:${OIDS.join('|')}) [^{}]*[{]`;
const TEXT_CONST = 'CONST :consttype (?:25|1042|1043) [^{}]*:constvalue [0-9]+ [[] ([-0-9 ]+)[]]';
const TREE_NAMED = TREE_CALL + TEXT_CONST;
const TREE_UNNAMED_CALL = `${TREE_CALL}(?!CONST )`;
const TREE_LITERAL = `[{]${TEXT_CONST}`;
const TREE_FOR_TRANSACTION = '[^{}]*[}] [{][^{}]*[}] [{]CONST :consttype 16 [^{}]*[[] [0 ]*1[0 ]*[]][}][)]';
const TREE_COMPUTED = `:funcid 2078 [^{}]*[{](?!CONST )(?!${TREE_FOR_TRANSACTION})`;
/** Bytes before the text of a constant. */
const HEADER = 4;

/** More names are not asked for. Owners take turns, so that nobody pushes out the names of others. */
const MOST_NAMES = 200;
const LONGEST_NAME = 100;
/** As digits, which a tree has for each byte. */
const LONGEST_DIGITS = 5 * (LONGEST_NAME + HEADER);
/** More objects that keep sessions are not listed. One of each owner and schema is enough, and owners take turns. */
const MOST_UNCLEAR = 200;
/** A longer text is not read, nor one of many that are longer together. Bytes. Read, they take some 0.5 s. */
const LONGEST_TEXT = 4_000_000;
const MOST_TEXT = 64_000_000;
/** Places where a text may have a name: each takes the server some 5 µs. */
const MOST_PLACES = 100_000;
/** A constant of a tree takes longer than a word of a source. */
const PLACES_OF_CONST = 5;
/** Lower oids belong to PostgreSQL itself (FirstNormalObjectId). */
const OF_USERS = 'OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid';
const NOT_TEMPORARY = `NOT pg_catalog.starts_with(ns.nspname::pg_catalog.text, 'pg_temp_')`;

/** Rows of a catalog, as x, with their owner and schema, and the columns that may have names. */
interface CatalogPlace {
  readonly from: string;
  readonly catalog: string;
  readonly owner: string;
  readonly schema: string;
  readonly texts?: readonly string[];
  readonly trees: readonly string[];
}

function ofTable(catalog: string, table: string, ...trees: readonly string[]): CatalogPlace {
  const isSome = trees.map((tree) => `x.${tree} IS NOT NULL`).join(' OR ');
  const from = `pg_catalog.${catalog} AS x JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) x.${table}
      AND r.relpersistence OPERATOR(pg_catalog.<>) 't' AND x.oid ${OF_USERS} AND (${isSome})`;
  return { from, catalog, owner: 'r.relowner', schema: 'r.relnamespace', trees };
}

/** PostgreSQL 14 and later keep some bodies parsed, without a source. */
function functions(serverMajor: number): CatalogPlace {
  return {
    from: `pg_catalog.pg_proc AS x JOIN pg_catalog.pg_namespace AS ns
      ON ns.oid OPERATOR(pg_catalog.=) x.pronamespace AND x.oid ${OF_USERS} AND ${NOT_TEMPORARY}`,
    catalog: 'pg_proc',
    owner: 'x.proowner',
    schema: 'x.pronamespace',
    texts: ['prosrc'],
    trees: serverMajor >= 14 ? ['prosqlbody', 'proargdefaults'] : ['proargdefaults'],
  };
}
/** The checks of a domain, unless it belongs to nobody. */
const DOMAIN_CHECKS: CatalogPlace = {
  from: `pg_catalog.pg_constraint AS x JOIN pg_catalog.pg_type AS r ON r.oid OPERATOR(pg_catalog.=) x.contypid
      AND x.oid ${OF_USERS} AND x.conbin IS NOT NULL`,
  catalog: 'pg_constraint',
  owner: 'r.typowner',
  schema: 'r.typnamespace',
  trees: ['conbin'],
};
const DOMAIN_DEFAULTS: CatalogPlace = {
  from: `pg_catalog.pg_type AS x JOIN pg_catalog.pg_namespace AS ns ON ns.oid OPERATOR(pg_catalog.=) x.typnamespace
      AND x.oid ${OF_USERS} AND x.typdefaultbin IS NOT NULL`,
  catalog: 'pg_type',
  owner: 'x.typowner',
  schema: 'x.typnamespace',
  trees: ['typdefaultbin'],
};
const OTHERS: readonly CatalogPlace[] = [
  ofTable('pg_policy', 'polrelid', 'polqual', 'polwithcheck'),
  ofTable('pg_rewrite', 'ev_class', 'ev_action', 'ev_qual'),
  ofTable('pg_attrdef', 'adrelid', 'adbin'),
  ofTable('pg_constraint', 'conrelid', 'conbin'),
  ofTable('pg_trigger', 'tgrelid', 'tgqual'),
  DOMAIN_CHECKS,
  DOMAIN_DEFAULTS,
];

const oidOf = (catalog: string): string => `'pg_catalog.${catalog}'::pg_catalog.regclass::pg_catalog.oid`;
const matches = (pattern: string): string => `s.body OPERATOR(pg_catalog.~*) ${literal(pattern)}`;
/** In a tree upper and lower case differ. */
const matchesTree = (pattern: string): string => `s.body OPERATOR(pg_catalog.~) ${literal(pattern)}`;
/** To look for a part takes a fifth of what a pattern takes. */
const TREE_HINT = OIDS.map((oid) => `pg_catalog.strpos(s.body, ':funcid ${oid} ') OPERATOR(pg_catalog.>) 0`).join(
  ' OR ',
);
const all = (pattern: string, flags: string): string =>
  `SELECT m[1] FROM pg_catalog.regexp_matches(s.body, ${literal(pattern)}, '${flags}') AS m`;
/** How often a text has a part. */
const count = (text: string, part: string): string => `((pg_catalog.octet_length(${text}) OPERATOR(pg_catalog.-)
      pg_catalog.octet_length(pg_catalog.replace(${text}, ${literal(part)}, '')))
      OPERATOR(pg_catalog./) ${part.length})`;
const LOWER = 'pg_catalog.lower(s.body COLLATE pg_catalog."C")';
/** All rows up to this one. Owners take turns, so that nobody uses up what is left for others. */
const SUM = (size: string, order: string): string => `pg_catalog.sum(${size}) OVER (${order} ROWS UNBOUNDED PRECEDING)`;
const OWN_FIRST = 'PARTITION BY owner ORDER BY oid, class, body_of';
const FAIR = 'ORDER BY own, oid, class, body_of';

function bodiesSql(place: CatalogPlace): readonly string[] {
  const { catalog, owner, schema, from, texts = [], trees } = place;
  return [...texts, ...trees].map(
    (column) => `SELECT ${oidOf(catalog)}, x.oid, ${owner}, ${schema}, '${column}',
      ${String(trees.includes(column))}, x.${column}::pg_catalog.text FROM ${from} WHERE x.${column} IS NOT NULL`,
  );
}

/** The one value that a question gives: the names to ask for, and what is known of the database. */
export function namedSettingsInput(customNames: readonly string[], { version, names, unclear }: NamedSettings): string {
  return JSON.stringify({ names: [...new Set([...customNames, ...names])], version, unclear });
}

const IS_CHANGED = `(SELECT version FROM catalog) OPERATOR(pg_catalog.<>) (SELECT version FROM input)`;
/** The text of a constant, of its bytes as numbers with a sign. */
const TEXT_OF_BYTES = `(SELECT pg_catalog.convert_from(pg_catalog.decode(pg_catalog.string_agg(pg_catalog.lpad(
      pg_catalog.to_hex(b.b::pg_catalog.int4 OPERATOR(pg_catalog.&) 255), 2, '0'), '' ORDER BY b.at), 'hex'),
      pg_catalog.getdatabaseencoding()) FROM pg_catalog.unnest(pg_catalog.string_to_array(
      pg_catalog.btrim(m.m), ' ')) WITH ORDINALITY AS b(b, at) WHERE b.at OPERATOR(pg_catalog.>) ${HEADER})`;
const IS_SHORT = `pg_catalog.length(m.m) OPERATOR(pg_catalog.<=) ${LONGEST_DIGITS}`;
const BELONGS_TO_EXTENSION = `EXISTS (SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid OPERATOR(pg_catalog.=) u.class AND d.objid OPERATOR(pg_catalog.=) u.oid
      AND d.deptype OPERATOR(pg_catalog.=) 'e')`;

/**
 * Parts of a WITH, for a statement whose $1 is that input in base64. `catalog(version)` is another text after each
 * change of an object that may name a setting: the ids of transactions only grow. `body` is empty unless it has
 * changed. Then `named(n)` has the names, and `unclear(u)` the objects that may set others.
 */
export function namedSettingsSql(serverMajor: number): string {
  const places = [functions(serverMajor), ...OTHERS];
  return `input(names, version, unclear) AS MATERIALIZED (
  SELECT d.doc OPERATOR(pg_catalog.->) 'names', d.doc OPERATOR(pg_catalog.->>) 'version',
    d.doc OPERATOR(pg_catalog.->) 'unclear' FROM (
    SELECT pg_catalog.convert_from(pg_catalog.decode($1, 'base64'), 'UTF8')::pg_catalog.json) AS d(doc)
), catalog(version) AS MATERIALIZED (
  SELECT pg_catalog.concat_ws('.', pg_catalog.count(*), pg_catalog.sum(c.x::pg_catalog.text::pg_catalog.int8)) FROM (
    ${places.map(({ from }) => `SELECT x.xmin FROM ${from}`).join('\n    UNION ALL ')}) AS c(x)
), body AS MATERIALIZED (
  SELECT s.*, pg_catalog.octet_length(s.body) AS size FROM (
    ${places.flatMap(bodiesSql).join('\n    UNION ALL ')}) AS s(class, oid, owner, schema, body_of, is_tree, body)
  WHERE ${IS_CHANGED}
), readable AS MATERIALIZED (
  SELECT s.*, s.size OPERATOR(pg_catalog.<=) ${LONGEST_TEXT}
    AND ${SUM('s.counted', FAIR)} OPERATOR(pg_catalog.<=) ${MOST_TEXT} AS is_read
  FROM (SELECT *, ${SUM('counted', OWN_FIRST)} AS own FROM (SELECT *,
      CASE WHEN size OPERATOR(pg_catalog.<=) ${LONGEST_TEXT} THEN size ELSE 0 END AS counted FROM body) AS s) AS s
), hinted AS MATERIALIZED (
  SELECT class, oid, owner, schema, body_of, is_tree, body, CASE WHEN is_tree
    THEN ${count('s.body', ':constvalue')} OPERATOR(pg_catalog.*) ${PLACES_OF_CONST}
    ELSE ${count(LOWER, 'set')} OPERATOR(pg_catalog.+) ${count('s.body', "'")} END AS places FROM readable AS s
  WHERE CASE WHEN NOT is_read THEN false WHEN is_tree THEN ${TREE_HINT} ELSE ${matches(HINT)} END
), source AS MATERIALIZED (
  SELECT s.*, ${SUM('s.places', FAIR)} OPERATOR(pg_catalog.<=) ${MOST_PLACES} AS is_read FROM (
    SELECT *, ${SUM('places', OWN_FIRST)} AS own FROM hinted) AS s
), found(class, oid, owner, schema, n) AS MATERIALIZED (
  SELECT s.class, s.oid, s.owner, s.schema, pg_catalog.replace(x.n, '"', '') FROM source AS s, LATERAL (
    ${all(NAMED, 'gi')} WHERE NOT s.is_tree UNION ALL
    ${all(LITERAL, 'g')} WHERE NOT s.is_tree AND ${matches(UNNAMED_CALL)} UNION ALL
    SELECT CASE WHEN ${IS_SHORT} THEN ${TEXT_OF_BYTES} END FROM (${all(TREE_NAMED, 'g')} WHERE s.is_tree) AS m(m) UNION
    SELECT ${TEXT_OF_BYTES} FROM (
      ${all(TREE_LITERAL, 'g')} WHERE s.is_tree AND ${matchesTree(TREE_UNNAMED_CALL)}) AS m(m) WHERE ${IS_SHORT}
  ) AS x(n) WHERE s.is_read AND (NOT s.is_tree OR x.n IS NULL OR x.n OPERATOR(pg_catalog.~) ${literal(`^${NAME}$`)})
), named(n) AS MATERIALIZED (
  SELECT r.n FROM (
    SELECT f.n,
      pg_catalog.row_number() OVER (PARTITION BY f.owner ORDER BY pg_catalog.min(f.oid::pg_catalog.int8), f.n),
      pg_catalog.min(f.oid::pg_catalog.int8) FROM found AS f
    WHERE pg_catalog.length(f.n) OPERATOR(pg_catalog.<=) ${LONGEST_NAME} GROUP BY f.owner, f.n
  ) AS r(n, turn, first) GROUP BY r.n ORDER BY pg_catalog.min(r.turn), pg_catalog.min(r.first) LIMIT ${MOST_NAMES}
), unclear(class, oid, owner, schema, why) AS MATERIALIZED (
  SELECT o.* FROM (SELECT DISTINCT ON (u.owner, u.schema) u.* FROM (
      SELECT class, oid, owner, schema, 'unread' FROM readable WHERE NOT is_read UNION ALL
      SELECT class, oid, owner, schema, 'unread' FROM source WHERE NOT is_read UNION ALL
      SELECT class, oid, owner, schema, 'names' FROM found AS f WHERE NOT EXISTS (
        SELECT FROM named WHERE named.n OPERATOR(pg_catalog.=) f.n) UNION ALL
      SELECT class, oid, owner, schema, 'computes' FROM source AS s WHERE s.is_read AND CASE WHEN s.is_tree
        THEN ${matchesTree(TREE_COMPUTED)} AND NOT EXISTS (SELECT FROM found AS f
          WHERE f.class OPERATOR(pg_catalog.=) s.class AND f.oid OPERATOR(pg_catalog.=) s.oid)
        ELSE (${matches(COMPUTED_CALL)} OR ${matches(COMPUTED_SET)})
          AND s.body OPERATOR(pg_catalog.!~) ${literal(LITERAL)} END
    ) AS u(class, oid, owner, schema, why) WHERE NOT ${BELONGS_TO_EXTENSION} ORDER BY u.owner, u.schema, u.oid) AS o
  ORDER BY pg_catalog.row_number() OVER (PARTITION BY o.owner ORDER BY o.oid), o.oid LIMIT ${MOST_UNCLEAR}
)`;
}

/** The names to ask for, of both. */
export const CUSTOM_NAMES = `SELECT n FROM named UNION
    SELECT e FROM input AS i, pg_catalog.json_array_elements_text(i.names) AS e`;

/**
 * Values of a JSON object: all that was found, null if nothing has changed; an object that concerns the session, and
 * why nobody knows what it sets.
 */
export const NAMED_SETTINGS_VALUES = `'named', (SELECT pg_catalog.json_build_object('version', version,
    'names', (SELECT COALESCE(pg_catalog.json_agg(n), '[]'::pg_catalog.json) FROM named),
    'unclear', (SELECT COALESCE(pg_catalog.json_agg(pg_catalog.concat_ws(' ', class, oid, owner, schema, why)),
      '[]'::pg_catalog.json) FROM unclear)) FROM catalog WHERE ${IS_CHANGED}),
  'unclear', (SELECT pg_catalog.json_build_array(u.why, (SELECT pg_catalog.left(
      pg_catalog.concat_ws(' ', i.type, i.identity), ${LONGEST_NAME})
      FROM pg_catalog.pg_identify_object(u.class, u.oid, 0) AS i))
    FROM (SELECT class, oid, owner, schema, why FROM unclear UNION ALL
      SELECT pg_catalog.split_part(o.o, ' ', 1)::pg_catalog.oid, pg_catalog.split_part(o.o, ' ', 2)::pg_catalog.oid,
        pg_catalog.split_part(o.o, ' ', 3)::pg_catalog.oid, pg_catalog.split_part(o.o, ' ', 4)::pg_catalog.oid,
        pg_catalog.split_part(o.o, ' ', 5)
      FROM input AS i, pg_catalog.json_array_elements_text(i.unclear) AS o(o) WHERE NOT (${IS_CHANGED})
    ) AS u JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) u.owner
    JOIN pg_catalog.pg_namespace AS ns ON ns.oid OPERATOR(pg_catalog.=) u.schema
    WHERE r.rolsuper OR pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
      OR ns.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false))
      OR r.oid OPERATOR(pg_catalog.=) (SELECT datdba FROM pg_catalog.pg_database
        WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
    ORDER BY u.oid LIMIT 1)`;
