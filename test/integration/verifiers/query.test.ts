// Verifiers from a real PostgreSQL, by the function of deploy/moves.sql: the roles that have one, the roles that are
// refused, and the lookup role, which can do nothing else.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { VerifierBatch, VerifierLookup, VerifierPolicy } from '../../../src/model/moves.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { preparePostgres } from '../../../src/sandbox/postgres/prepare.ts';
import type { PostgresServer } from '../../../src/sandbox/postgres/postgres-server.ts';
import { connectTo } from '../../support/sockets/connect-to.ts';
import { verifierOpener } from '../../../src/verifiers/batch.ts';
import { fromKept } from '../../support/sandbox/kept-cluster.ts';
import { addressOf, choicesHere, startAs, untilAnswer } from '../../support/sandbox/postgres.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { until } from '../../support/waiting/until.ts';

type QueryPolicy = Extract<VerifierPolicy, { kind: 'query' }>;

const SQL = await readFile(new URL('../../../deploy/moves.sql', import.meta.url), 'utf8');
const PASSWORD = "correct horse, it's";
const LOOKUP_PASSWORD = 'battery-staple-1';

const ROLES = `
  ALTER ROLE pointsman_lookup PASSWORD '${LOOKUP_PASSWORD}';
  CREATE ROLE app LOGIN PASSWORD '${PASSWORD.replaceAll("'", "''")}' IN ROLE pointsman_movable;
  CREATE ROLE "Ümlaut ""q""" LOGIN PASSWORD 'x' VALID UNTIL 'infinity' IN ROLE pointsman_movable;
  SET password_encryption = 'md5';
  CREATE ROLE old LOGIN PASSWORD 'x' IN ROLE pointsman_movable;
  RESET password_encryption;
  CREATE ROLE stranger LOGIN PASSWORD 'x';
  CREATE ROLE super LOGIN SUPERUSER PASSWORD 'x' IN ROLE pointsman_movable;
  CREATE ROLE repl LOGIN REPLICATION PASSWORD 'x' IN ROLE pointsman_movable;
  CREATE ROLE creator LOGIN CREATEROLE PASSWORD 'x' IN ROLE pointsman_movable;
  CREATE ROLE admins NOLOGIN IN ROLE super;
  CREATE ROLE climber LOGIN NOINHERIT PASSWORD 'x' IN ROLE pointsman_movable, admins;
  CREATE ROLE reader LOGIN PASSWORD 'x' IN ROLE pointsman_movable, pg_read_server_files;
  CREATE ROLE locked NOLOGIN PASSWORD 'x' IN ROLE pointsman_movable;
  CREATE ROLE expired LOGIN PASSWORD 'x' VALID UNTIL '2001-01-01' IN ROLE pointsman_movable;
  CREATE ROLE trusted LOGIN IN ROLE pointsman_movable`;
const REFUSED = 'stranger super repl creator climber reader locked expired trusted nobody_here'.split(' ');

/** One server for the tests of this `describe`. */
function serverOf(choice: BinariesChoice): () => PostgresServer {
  let [server, end]: [PostgresServer | undefined, () => Promise<void>] = [undefined, async () => {}];
  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    const prepared = await preparePostgres({ directory, names: ['node-1'], postgres: choice, initialize: fromKept });
    end = () => prepared.close();
    [server] = prepared.servers;
    if (server === undefined) throw new Error('one server was asked for');
    await startAs(server, undefined);
    // The file can be run again.
    for (const script of [SQL, SQL, ROLES]) await server.query(script, [], 15_000);
  }, 60_000);
  afterAll(() => end());
  return () => {
    if (server === undefined) throw new Error('the server did not start');
    return server;
  };
}

async function fileWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'password');
  await writeFile(file, text);
  return file;
}

async function open(server: PostgresServer, changes: Partial<QueryPolicy> = {}): Promise<VerifierBatch> {
  const policy: QueryPolicy = {
    kind: 'query',
    user: 'pointsman_lookup',
    passwordFile: await fileWith(`${LOOKUP_PASSWORD}\n`),
    database: 'postgres',
    query: 'SELECT pointsman.verifier($1)',
    ...changes,
  };
  // No limit of time: a busy machine is no fault of the server.
  const batch = verifierOpener(new ManualClock())(policy, addressOf(server), connectTo(addressOf(server)));
  onTestFinished(() => batch.end());
  return batch;
}

function textOf(lookup: VerifierLookup): string {
  return lookup.kind === 'found' ? Buffer.from(lookup.verifier).toString() : `${lookup.kind}: ${lookup.why}`;
}

/** RFC 5802: StoredKey := H(HMAC(Hi(password, salt, i), "Client Key")). */
function isVerifierOf(password: string, verifier: string): boolean {
  const [, rounds = '', salt = '', stored = ''] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):/.exec(verifier) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(rounds), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  return createHash('sha256').update(clientKey).digest('base64') === stored;
}

async function connectAs(server: PostgresServer, user: string, password: string): Promise<Client> {
  const client = new Client({ ...addressOf(server), user, password, database: 'postgres' });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe.each(await choicesHere())('PostgreSQL %s', (choice) => {
  const serverNow = serverOf(choice);

  test('the function gives the verifiers of its group, and no other', async () => {
    const server = serverNow();
    const batch = await open(server);
    const verifier = textOf(await batch.find('app'));
    expect(isVerifierOf(PASSWORD, verifier)).toBe(true);
    expect(isVerifierOf('another', verifier)).toBe(false);
    expect(textOf(await batch.find('old'))).toMatch(/^md5[0-9a-f]{32}$/);
    expect(textOf(await batch.find('Ümlaut "q"'))).toMatch(/^SCRAM-SHA-256\$/);
    const refused = await Promise.all(REFUSED.map(async (role) => textOf(await batch.find(role))));
    const at = `${server.host}:${server.port}`;
    const must = 'it must be a member of pointsman_movable, with a password that has not expired, and no superuser';
    expect(refused).toEqual(
      REFUSED.map((role) => `refused: role "pointsman_lookup" on ${at} got no verifier for role "${role}": ${must}`),
    );
  });

  test('only the lookup role may call it, and it may do nothing else', async () => {
    const server = serverNow();
    const app = await connectAs(server, 'app', PASSWORD);
    await expect(app.query("SELECT pointsman.verifier('app')")).rejects.toMatchObject({ code: '42501' });
    const lookup = await connectAs(server, 'pointsman_lookup', LOOKUP_PASSWORD);
    await expect(lookup.query('SELECT rolpassword FROM pg_authid')).rejects.toMatchObject({ code: '42501' });
    await expect(lookup.query('CREATE TABLE pointsman.t ()')).rejects.toMatchObject({ code: '42501' });
    await expect(lookup.query('SET ROLE app')).rejects.toMatchObject({ code: '42501' });
  });

  test("objects in the caller's search_path do not fool it", async () => {
    const server = serverNow();
    await server.query(`CREATE SCHEMA evil;
      CREATE FUNCTION evil.yes(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
      CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = text, FUNCTION = evil.yes);
      GRANT USAGE ON SCHEMA evil TO PUBLIC`);
    const lookup = await connectAs(server, 'pointsman_lookup', LOOKUP_PASSWORD);
    await lookup.query('SET search_path = evil, pg_catalog');
    const fooled = await lookup.query("SELECT 'a'::name = 'b'::text AS is_fooled");
    expect(fooled.rows).toEqual([{ is_fooled: true }]);
    const { rows } = await lookup.query("SELECT pointsman.verifier('nobody_here')");
    expect(rows).toEqual([{ verifier: null }]);
  });
});

describe('one server', () => {
  const serverNow = serverOf('embedded');

  test('a hundred roles: one connection, which ends with the batch', async () => {
    const server = serverNow();
    const mine = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pointsman_lookup'";
    const batch = await open(server);
    const roles = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 'app' : `unknown_${i}`));
    const lookups = await Promise.all(roles.map((role) => batch.find(role)));
    expect(lookups.filter(({ kind }) => kind === 'found')).toHaveLength(50);
    expect(lookups.filter(({ kind }) => kind === 'refused')).toHaveLength(50);
    await untilAnswer(server, mine, '1');
    const [first] = lookups;
    batch.end();
    expect(first?.kind === 'found' && first.verifier.every((byte) => byte === 0)).toBe(true);
    await untilAnswer(server, mine, '0');
    expect(await batch.find('app')).toEqual({ kind: 'failed', why: 'its batch of moves is over' });
  });

  test('a clear reason, without secrets, for what goes wrong at the login', async () => {
    const server = serverNow();
    // The library would take what is missing from here.
    vi.stubEnv('PGPASSWORD', LOOKUP_PASSWORD);
    onTestFinished(() => void vi.unstubAllEnvs());
    const who = (role: string): string => `failed: role "${role}" on ${server.host}:${server.port}: `;
    const why = async (changes: Partial<QueryPolicy>): Promise<string> =>
      textOf(await (await open(server, changes)).find('app'));
    expect(await why({ passwordFile: undefined })).toBe(
      'failed: the server asks for a password: give moves.verifiers.password_file',
    );
    expect(await why({ passwordFile: '/no-such-file' })).toBe(
      'failed: /no-such-file cannot be read: there is no such file',
    );
    const wrong = await fileWith('wrong-password-7\n');
    expect(await why({ passwordFile: wrong })).toBe(
      `${who('pointsman_lookup')}password authentication failed for user "pointsman_lookup" (28P01)`,
    );
    expect(await why({ user: 'nobody_here' })).toContain(`${who('nobody_here')}password authentication failed`);
    expect(await why({ database: 'none' })).toBe(`${who('pointsman_lookup')}database "none" does not exist (3D000)`);
    const [two, empty] = [await fileWith('secret-1\nsecret-2\n'), await fileWith('\n')];
    expect(await why({ passwordFile: two })).toBe(`failed: ${two} has more than one line: write the password alone`);
    expect(await why({ passwordFile: empty })).toContain('holds no password');
  });

  test('and in the query', async () => {
    const server = serverNow();
    await server.query(`CREATE FUNCTION leak(role text) RETURNS int LANGUAGE sql SECURITY DEFINER
      AS 'SELECT rolpassword::int FROM pg_authid WHERE rolname = role'`);
    const why = async (query: string, role = 'app'): Promise<string> =>
      textOf(await (await open(server, { query })).find(role));
    expect(await why('SELECT rolpassword FROM pg_authid WHERE rolname = $1')).toContain(
      'permission denied for table pg_authid (42501)',
    );
    expect(await why('SELECT no_such_function($1)')).toContain('(42883)');
    expect(await why('SELECT $1::text, 2')).toContain('returned 2 columns: it must return one row with one column');
    expect(await why('SELECT $1::text FROM generate_series(1, 3)')).toContain('returned 3 rows');
    expect(await why('SELECT $1::text WHERE false')).toMatch(/got no verifier for role "app"$/);
    expect(await why('SELECT $1::text', 'plain text')).toBe(
      'refused: what is stored for role "plain text" is neither a SCRAM-SHA-256 verifier nor an md5 hash',
    );
    for (const role of ['app', 'old']) {
      expect(await why('SELECT leak($1)', role)).toContain('invalid input syntax for type integer: "[verifier]"');
    }
  });

  test('and where TLS alone is allowed', async () => {
    const server = serverNow();
    const hba = join(server.dataDirectory, 'pg_hba.conf');
    await writeFile(
      hba,
      'hostssl all pointsman_lookup 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 scram-sha-256\n',
    );
    await server.query('SELECT pg_reload_conf()');
    const refused = /no pg_hba.conf entry .*no encryption \(28000\); the servers want TLS: set backend\.tls/;
    await until('the new rules', async () => refused.test(textOf(await (await open(server)).find('app'))));
  });

  test('what failed is asked again: the server starts meanwhile', async () => {
    const server = serverNow();
    await server.stop('fast');
    const batch = await open(server);
    expect(textOf(await batch.find('app'))).toMatch(/^failed: role "pointsman_lookup" on \S+ .*ECONNREFUSED/);
    await startAs(server, undefined);
    expect(await batch.find('app')).toMatchObject({ kind: 'found' });
    // The kept connection is gone, and the next question makes a new one.
    await server.stop('fast');
    await startAs(server, undefined);
    await until('a new connection', async () => (await batch.find('old')).kind === 'found');
  });
});
