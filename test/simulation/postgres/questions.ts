// The statements that Pointsman sends for a session of its own accord, answered from the session's true state: what
// the state is, the restore of another session's state, and the WAL of the server. They are recognized by their texts.
import { ownJson } from './own-json.ts';
import { settingName } from './settings.ts';
import { SqlError, type Row, type ServerSession } from './session.ts';
import { insertPosition, walFile } from './wal.ts';
import type { Database } from './database.ts';

/** The server as its own functions tell of it. */
export interface WalSource {
  isInRecovery(): boolean;
  database(): Database;
  timeline(): number;
  /** The end of the last record: on a primary written, on a standby replayed. */
  position(): number;
  /** On a primary: the end of what its start replayed. Undefined: it had stopped in order. */
  recovered(): number | undefined;
}

const VERSION = 'v1';
const LIST = (before: string): RegExp => new RegExp(`${before} \\(ARRAY\\[([^\\]]*)\\]\\)`);
const EXCLUDED = LIST('OPERATOR\\(pg_catalog\\.<>\\) ALL');
const READING = LIST('OPERATOR\\(pg_catalog\\.=\\) ANY');
/** The object ids of roles, as all members of a cluster have them. */
const ROLES: readonly string[] = ['postgres', 'app', 'auditor', 'reader'];

/** Throws an SqlError for a text that is not one of them. */
export function answerQuestion(
  sql: string,
  value: string | null | undefined,
  session: ServerSession,
  server: WalSource,
): readonly Row[] {
  const { settings } = session;
  if (sql.includes("'privileged'")) return [[base64(settingsDocument(sql, session))]];
  if (sql.includes("'session_user', session_user")) return [[base64(stateDocument(value ?? '', session, server))]];
  if (sql.includes("pg_catalog.current_setting('role'), session_user")) {
    const role = settings.value('role') ?? 'none';
    const row = [role, session.user, settings.value('search_path') ?? '', identity(session)];
    return [sql.includes('pg_is_in_recovery') ? [...row, JSON.stringify(walDocument(server))] : row];
  }
  if (sql.includes('json_each_text')) return setFromJson(sql, value ?? '{}', session);
  const [, named] = /set_config\('(\w+)', \$1, (?:true|false)\)/.exec(sql) ?? [];
  if (named !== undefined) {
    settings.set(named, value ?? '', sql.includes('$1, true'));
    return [[value ?? '']];
  }
  if (sql.startsWith('/* pointsman */ SELECT (CASE WHEN pg_catalog.pg_is_in_recovery()')) {
    return [[JSON.stringify(walDocument(server))]];
  }
  throw new SqlError('42601', `a question that this server does not know: ${sql.slice(0, 100)}`);
}

function settingsDocument(sql: string, { settings }: ServerSession): object {
  const excluded = namesIn(EXCLUDED, sql);
  const mine = [...settings.ofSession()].filter(([name]) => !excluded.includes(name));
  const reading = namesIn(READING, sql).map((name) => [name, settings.value(name) ?? null]);
  return {
    settings: mine.length === 0 ? null : Object.fromEntries(mine),
    reading: reading.length === 0 ? null : Object.fromEntries(reading),
    privileged: null,
    wal_writer_delay: '200',
  };
}

function stateDocument(input: string, session: ServerSession, server: WalSource): object {
  const { names, version } = inputOf(input);
  const { settings, prepared } = session;
  const custom = names.filter((name) => name.includes('.')).map((name) => [name, settings.value(name) ?? null]);
  const statements = [...prepared]
    .filter(([name]) => name !== '' && name !== '_pointsman')
    .map(([name, { sql, parameterTypes, isFromSql }]) => [name, sql, parameterTypes.map(String), isFromSql]);
  return {
    named: version === VERSION ? null : { version: VERSION, names: [], unclear: [] },
    unclear: null,
    custom: custom.length === 0 ? null : Object.fromEntries(custom),
    prepared: statements.length === 0 ? null : statements,
    listening: listOf(session.listening),
    cursors: listOf(session.cursors),
    advisory: session.advisory.size,
    temporary: session.temporaryTables,
    slots: 0,
    role: settings.value('role') ?? 'none',
    session_user: session.user,
    identity: identity(session),
    search_path: settings.value('search_path') ?? '',
    wal: walDocument(server),
  };
}

/** As WAL_EXPRESSION of src builds it. */
function walDocument(server: WalSource): object {
  const database = server.database();
  const ids = { ended: String(database.endedBelow()), below: String(database.visibleBelow()) };
  if (server.isInRecovery()) return { replayed: String(server.position()), ...ids };
  const position = insertPosition(server.position());
  const recovered = server.recovered();
  return {
    written: String(position),
    file: walFile(server.timeline(), position),
    page: '8192',
    segment: '16777216',
    recovered: recovered === undefined ? null : String(recovered),
    ...ids,
  };
}

/** The settings of a restore, or the way in which literals are read for one transaction. */
function setFromJson(sql: string, value: string, { settings }: ServerSession): readonly Row[] {
  const entries = textsIn(value).map(([name, text]) => [settingName(name), text] as const);
  if (sql.includes('AS ours')) {
    return entries.map(([name, text]) => {
      const ours = settings.value(name) ?? '';
      settings.set(name, text, false);
      settings.set(name, ours, true);
      return [name, text, ours];
    });
  }
  if (sql.includes('set_config(n, v, true)')) {
    const different = entries.filter(([name, text]) => settings.value(name) !== text);
    for (const [name, text] of different) settings.set(name, text, true);
    return different.map(([, text]) => [text]);
  }
  for (const [name, text] of entries) settings.set(name, text, false);
  return entries.map(([name, text]) => [name, text]);
}

function identity(session: ServerSession): string {
  return ['5', oidOf(session.user), oidOf(session.role())].filter(Boolean).join('.');
}

function oidOf(role: string): string {
  const index = ROLES.indexOf(role);
  return index === -1 ? '' : String(16_384 + index);
}

function namesIn(pattern: RegExp, sql: string): readonly string[] {
  const [, list = ''] = pattern.exec(sql) ?? [];
  return [...list.matchAll(/'([^']*)'/g)].map(([, name = '']) => name);
}

interface QuestionInput {
  readonly names: readonly string[];
  readonly version: string;
}

function inputOf(input: string): QuestionInput {
  return ownJson<QuestionInput>(Buffer.from(input, 'base64').toString());
}

/** In their order. */
function textsIn(json: string): readonly (readonly [string, string])[] {
  return Object.entries(ownJson<Record<string, string>>(json));
}

function listOf(names: ReadonlySet<string>): readonly string[] | null {
  return names.size === 0 ? null : [...names];
}

function base64(document: object): string {
  return Buffer.from(JSON.stringify(document)).toString('base64');
}
