// The state that a client has given its session, as the client remembers it, and the statements that set it and ask
// for it again.
import type { Random } from '../world/random.ts';
import { CANCELED, type Connection, type RequestEnd } from './connection.ts';

const CHOICES: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['app.tenant', ['acme', 'globex', 'initech']],
  ['work_mem', ['8MB', '16MB']],
  ['TimeZone', ['Europe/Berlin', 'America/Lima']],
  ['search_path', ['app, public', 'public']],
  ['role', ['auditor', 'reader']],
];
const LEFT_OPEN = 'none';
const CHANNELS = 'SELECT pg_listening_channels()';
const LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";

export class SessionState {
  readonly #settings = new Map<string, string>();
  readonly #prepared = new Set<string>();
  readonly #channels = new Set<string>();
  #locks = 0;
  /** It has prepared a COMMIT. */
  hasEnding = false;
  /** As it is without a SET. */
  #usualPath: string | undefined;
  readonly #client: string;

  constructor(client: string) {
    this.#client = client;
  }

  /** Sets one more thing at random. False: the connection is lost. */
  async change(connection: Connection, random: Random): Promise<boolean> {
    const chance = random.next();
    if (chance < 0.3) return (await this.prepare(connection, random)).kind !== 'lost';
    if (chance < 0.34) return this.#give(connection, 'synchronous_commit', random.pick(['off', 'on']));
    if (chance < 0.37) return this.#pin(connection, 'LISTEN news', () => this.#channels.add('news'));
    if (chance < 0.4) return this.#pin(connection, 'SELECT pg_advisory_lock(7)', () => (this.#locks = 1));
    const [name, values] = random.pick(CHOICES);
    return this.#give(connection, name, random.pick(values));
  }

  async #give(connection: Connection, name: string, value: string): Promise<boolean> {
    const sql = name === 'role' ? `SET ROLE ${value}` : `SET ${name} = '${value}'`;
    const end = await connection.query(sql);
    if (end.kind === 'done') this.#settings.set(name, value);
    return end.kind !== 'lost';
  }

  /** One more statement, which stays. */
  async prepare(connection: Connection, random: Random): Promise<RequestEnd> {
    const name = `p${this.#prepared.size + 1}`;
    const sql = `SELECT number FROM writes WHERE client = '${this.#client}'`;
    const end = random.chance(0.5)
      ? await connection.prepare(name, sql)
      : await connection.query(`PREPARE ${name} AS ${sql}`);
    if (end.kind === 'done') this.#prepared.add(name);
    return end;
  }

  /** It keeps the session where it is. A standby refuses some of it. */
  async #pin(connection: Connection, sql: string, done: () => void): Promise<boolean> {
    const end = await connection.query(sql);
    if (end.kind === 'done') done();
    return end.kind !== 'lost';
  }

  /** The differences; undefined: the connection is lost. */
  async compare(connection: Connection): Promise<readonly string[] | undefined> {
    const differences: string[] = [];
    for (const [name, value] of this.#settings) {
      if (name === 'role') continue;
      const end = await connection.query(`SHOW ${name}`);
      if (end.kind === 'lost') return undefined;
      if (isCanceled(end)) return differences;
      const now = end.kind === 'done' ? end.rows[0]?.[0] : end.message;
      if (now !== value) differences.push(`${name} is ${now}, not ${value}`);
    }
    if (!this.#settings.has('search_path')) {
      const end = await connection.query('SHOW search_path');
      if (end.kind === 'lost') return undefined;
      if (isCanceled(end)) return differences;
      const path = end.kind === 'done' ? (end.rows[0]?.[0] ?? '') : end.message;
      this.#usualPath ??= path;
      if (path !== this.#usualPath) differences.push(`search_path is ${path}, and was ${this.#usualPath}`);
    }
    const end = await connection.query('SELECT session_user, current_user, current_database()');
    if (end.kind === 'lost') return undefined;
    if (isCanceled(end)) return differences;
    const role = this.#settings.get('role') ?? LEFT_OPEN;
    const expected = `app ${role === LEFT_OPEN ? 'app' : role} shop`;
    const found = end.kind === 'done' ? (end.rows[0] ?? []).join(' ') : end.message;
    if (found !== expected) differences.push(`the session is ${found}, not ${expected}`);
    for (const [sql, expected] of [
      [CHANNELS, [...this.#channels].join(' ')],
      [LOCKS, String(this.#locks)],
    ] as const) {
      const end = await connection.query(sql);
      if (end.kind === 'lost') return undefined;
      if (isCanceled(end)) return differences;
      const found = end.kind === 'done' ? end.rows.flat().join(' ') : end.message;
      if (found !== expected) differences.push(`${sql} gives "${found}", not "${expected}"`);
    }
    for (const name of this.#prepared) {
      const end = await connection.execute(name, []);
      if (end.kind === 'lost') return undefined;
      if (isCanceled(end)) return differences;
      if (end.kind === 'failed') differences.push(`the statement ${name}: ${end.message}`);
    }
    return differences;
  }
}

/** It tells nothing. */
function isCanceled(end: RequestEnd): boolean {
  return end.kind === 'failed' && end.code === CANCELED;
}
