// The console as real clients see it: psql, node-postgres, both psycopgs, and beside a real PgBouncer.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { FieldDef, QueryArrayResult } from 'pg';
import { describe, expect, test } from 'vitest';
import { runTool, whyNoTool } from '../../support/applications/client-tools.ts';
import { NO_TOKEN, startConsole, TOKEN } from '../../support/labs/console-lab.ts';
import { SESSIONS, aConsoleSources } from '../../support/values/console.ts';
import { missingForPgbouncer, startPgbouncer } from '../../support/processes/pgbouncer.ts';
import { describeUnless, itUnless } from '../../support/runner/unless-missing.ts';
import type { Address } from '../../../src/model/member.ts';

const AS = { user: 'monitor', password: TOKEN, database: 'pointsman' };

async function connected(address: Address, changes: object = {}): Promise<Client> {
  const client = new Client({ ...address, ...AS, ssl: false, ...changes });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** The result of one query on a connection of its own. */
async function ask(address: Address, text: string, changes: object = {}): Promise<QueryArrayResult> {
  const client = await connected(address, changes);
  try {
    return await client.query({ text, rowMode: 'array' });
  } finally {
    await client.end();
  }
}

describe('node-postgres', () => {
  test('simple and prepared queries, and several statements at once', async () => {
    const client = await connected(await startConsole());
    try {
      expect((await client.query('show version')).rows).toEqual([{ version: 'Pointsman 1.2.3' }]);
      const prepared = { name: 'lists', text: 'SHOW LISTS' };
      expect((await client.query(prepared)).rows).toContainEqual({ list: 'pools', items: 2 });
      expect((await client.query(prepared)).rows).toContainEqual({ list: 'members', items: 1 });
      expect(await client.query('show version; show lists; show pools')).toHaveLength(3);
      await expect(client.query('show version; reload; show pools')).rejects.toMatchObject({ code: '25006' });
      await expect(client.query('show pools $1', [1])).rejects.toMatchObject({ code: '42601' });
      expect((await client.query('')).rows).toEqual([]);
      expect((await client.query('show version')).rows).toHaveLength(1);
    } finally {
      await client.end();
    }
  });

  test('a wrong token, and none, are refused by PostgreSQL’s own code', async () => {
    const address = await startConsole();
    await expect(ask(address, 'show pools', { password: 'wrong' })).rejects.toMatchObject({ code: '28P01' });
    await expect(ask(address, 'show pools', { password: undefined })).rejects.toThrow(/password/);
  });

  test('the database is pointsman, or pgbouncer for the tools of PgBouncer', async () => {
    const address = await startConsole({ token: NO_TOKEN });
    expect((await ask(address, 'show version', { database: 'pgbouncer' })).rows).toHaveLength(1);
    await expect(ask(address, 'show version', { database: 'shop' })).rejects.toMatchObject({ code: '3D000' });
  });

  test('a token that cannot be read lets nobody in', async () => {
    const address = await startConsole({ token: () => Promise.resolve({ kind: 'unusable', why: 'gone' }) });
    await expect(ask(address, 'show version')).rejects.toMatchObject({
      code: '28000',
      message: 'nobody can log in: gone',
    });
  });

  test('a notice comes with the rows, by either protocol', async () => {
    const many = { ...SESSIONS, total: 9, left_out: 7 };
    const sources = aConsoleSources({ sessions: () => Promise.resolve(many) });
    const client = await connected(await startConsole({ sources }));
    const notices: (string | undefined)[] = [];
    client.on('notice', ({ message }) => notices.push(message));
    try {
      expect((await client.query('show sessions')).rows).toHaveLength(2);
      expect((await client.query({ name: 's', text: 'show sessions' })).rows).toHaveLength(2);
    } finally {
      await client.end();
    }
    expect(notices).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('7 of 9 sessions are left out')));
  });

  test('a source that fails is an error of that statement alone', async () => {
    const sources = aConsoleSources({ status: () => Promise.reject(new Error('no status now')) });
    const client = await connected(await startConsole({ sources }));
    try {
      await expect(client.query('show pools')).rejects.toMatchObject({ code: 'XX000', message: 'no status now' });
      const prepared = client.query({ name: 'p', text: 'show pools' });
      await expect(prepared).rejects.toMatchObject({ code: 'XX000' });
      expect((await client.query('show version')).rows).toHaveLength(1);
    } finally {
      await client.end();
    }
  });

  test('without a token nobody reads who the clients are', async () => {
    const address = await startConsole({ token: NO_TOKEN });
    await expect(ask(address, 'show clients')).rejects.toMatchObject({ code: '42501' });
  });

  test('a changed token counts for the next login', async () => {
    let value = TOKEN;
    const address = await startConsole({ token: () => Promise.resolve({ kind: 'token', value }) });
    await ask(address, 'show version');
    value = 'another-secret-of-16';
    await expect(ask(address, 'show version')).rejects.toMatchObject({ code: '28P01' });
    await ask(address, 'show version', { password: value });
  });
});

function psql(port: number, input: readonly string[], as = AS): Promise<string> {
  return runTool('psql', { port, as }, ['-X', '-A', '-t', ...input.flatMap((line) => ['-c', line])]);
}

describeUnless(whyNoTool('psql'), 'psql', () => {
  test('shows what it is asked for', async () => {
    const { port } = await startConsole();
    expect(await psql(port, ['SHOW POOLS'])).toContain('write|*|4|5|0|0|4|0|0|0|0|0|3|');
    expect(await psql(port, ['/* a comment */ show version; -- the end'])).toBe('Pointsman 1.2.3');
    expect(await psql(port, ['show version', 'show version;show server_version'])).toBe(
      'Pointsman 1.2.3\nPointsman 1.2.3\n1.2.3/pointsman',
    );
  });

  test('its own commands get an error, not silence, and the session goes on', async () => {
    const { port } = await startConsole({ token: NO_TOKEN });
    await expect(psql(port, ['\\d'])).rejects.toThrow(/this is the console of Pointsman, not a database/);
    for (const command of ['\\d+ pools', '\\l', '\\du', '\\dn', '\\df', 'select 1', '\\copy pools to stdout']) {
      await expect(psql(port, [command])).rejects.toThrow(/ERROR: /);
    }
    expect(await psql(port, ['\\conninfo', 'show version'])).toContain('Pointsman 1.2.3');
  });

  test('the hint names the command that changes things', async () => {
    const { port } = await startConsole();
    await expect(psql(port, ['RELOAD'])).rejects.toThrow(/HINT: {2}pointsman reload/);
  });

  test('a wrong token', async () => {
    const { port } = await startConsole();
    await expect(psql(port, ['show pools'], { ...AS, password: 'wrong' })).rejects.toThrow(
      /password authentication failed\nHINT: {2}The password is the admin token/,
    );
  });
});

const execute = promisify(execFile);
const whyNoPsycopg = async (module: string): Promise<string | undefined> =>
  await execute('/usr/bin/python3', ['-c', `import ${module}`]).then(
    () => undefined,
    () => `${module}: apt-get install python3-${module}`,
  );

describe('Python', () => {
  for (const [module, how] of [
    ['psycopg', 'prepare=True'],
    ['psycopg2', ''],
  ] as const) {
    itUnlessPython(module, how);
  }
});

function itUnlessPython(module: string, how: string): void {
  test(`${module} reads in the transaction that it begins by itself`, async ({ skip }) => {
    const missing = await whyNoPsycopg(module);
    if (missing !== undefined && process.env['CI'] === undefined) skip(missing);
    const { port } = await startConsole();
    const script = [
      `import ${module} as driver`,
      `c = driver.connect("host=127.0.0.1 port=${port} dbname=pgbouncer user=x password=${TOKEN}")`,
      'k = c.cursor()',
      `k.execute("show pools"${how === '' ? '' : `, ${how}`})`,
      'print([d[0] for d in k.description][:3], k.fetchall()[0][:3])',
      'c.commit()',
      'k.execute("show version")',
      'print(k.fetchall())',
      'c.close()',
    ];
    const { stdout } = await execute('/usr/bin/python3', ['-c', script.join('\n')]);
    expect(stdout).toBe("['database', 'user', 'cl_active'] ('write', '*', 4)\n[('Pointsman 1.2.3',)]\n");
  });
}

/** Name and type of each column. */
function shapeOf(fields: readonly FieldDef[]): readonly string[] {
  return fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`);
}

const JDBC = '/usr/share/java/postgresql.jar';
const JAVA = `import java.sql.*;
public class Ask {
  public static void main(String[] args) throws Exception {
    for (String mode : new String[] {"extended", "simple"}) {
      try (Connection c = DriverManager.getConnection(args[0] + "&preferQueryMode=" + mode)) {
        c.setAutoCommit(false);
        for (int i = 0; i < 7; i++) {
          ResultSet rows = c.prepareStatement("SHOW POOLS").executeQuery();
          rows.next();
          System.out.print(rows.getString("database") + rows.getInt("cl_active") + " ");
        }
        c.commit();
      }
    }
  }
}
`;

itUnless(
  existsSync(JDBC) ? undefined : 'pgjdbc: apt-get install libpostgresql-jdbc-java',
  'pgjdbc',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    try {
      await writeFile(join(directory, 'Ask.java'), JAVA);
      const { port } = await startConsole();
      const url = `jdbc:postgresql://127.0.0.1:${port}/pointsman?user=x&password=${TOKEN}`;
      const { stdout } = await execute('java', ['-cp', JDBC, join(directory, 'Ask.java'), url]);
      expect(stdout).toBe('write4 '.repeat(14));
    } finally {
      await rm(directory, { recursive: true });
    }
  },
  60_000,
);

describe('beside PgBouncer', () => {
  for (const name of [
    'POOLS',
    'STATS',
    'STATS_TOTALS',
    'DATABASES',
    'CLIENTS',
    'SERVERS',
    'LISTS',
    'CONFIG',
    'VERSION',
  ]) {
    itUnless(missingForPgbouncer, `SHOW ${name} has PgBouncer’s columns with their types, in its order`, async () => {
      const bouncer = await startPgbouncer({ host: '127.0.0.1', port: 1 }, { user: 'x', password: 'x' });
      const real = await ask(bouncer, `SHOW ${name}`, { user: 'pgbouncer', database: 'pgbouncer' });
      const ours = await ask(await startConsole(), `SHOW ${name}`);
      const theirs = shapeOf(real.fields);
      expect(shapeOf(ours.fields).filter((column) => theirs.includes(column))).toEqual(theirs);
    });
  }
});
