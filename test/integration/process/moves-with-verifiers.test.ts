// The real program, with one process and with two workers: a session that logged in with SCRAM moves, by the verifier
// that the function of deploy/moves.sql gives out, and no line of the log has a secret.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { ask, prepareServers, startAs } from '../../support/sandbox/postgres.ts';
import { ADMIN_TOKEN, APP_PASSWORD, LOOKUP_PASSWORD } from '../../support/values/canaries.ts';

const SQL = new URL('../../../deploy/moves.sql', import.meta.url);

const sessions = z.object({ sessions: z.array(z.object({ id: z.number() })) });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function request(pointsman: PointsmanProcess, method: string, path: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const body = method === 'POST' ? { body: '{}' } : {};
  const response = await fetch(`http://127.0.0.1:${await pointsman.port('admin')}${path}`, {
    method,
    headers,
    ...body,
  });
  return await response.json();
}

test.each([1, 2])('workers: %i', { timeout: 120_000 }, async (workers) => {
  const server = (await prepareServers(1)).server(0);
  await startAs(server, undefined);
  await server.query(await readFile(SQL, 'utf8'), [], 15_000);
  await server.query(`ALTER ROLE pointsman_lookup PASSWORD '${LOOKUP_PASSWORD}';
    CREATE ROLE app LOGIN PASSWORD '${APP_PASSWORD}' IN ROLE pointsman_movable`);
  const verifier = (await ask(server, "SELECT rolpassword FROM pg_authid WHERE rolname = 'app'")) ?? '';
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  closing.push(() => rm(directory, { recursive: true }));
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, `${LOOKUP_PASSWORD}\n`);
  const member = await FakeMember.start('pg-1', { role: 'primary' });
  closing.push(() => member.stop());
  member.set({ cluster: { scope: 'demo', members: [member.entry({ port: server.port })] } });
  const pointsman = await startPointsman({
    cluster: { seeds: [member.url], allow: { ports: [server.port] } },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
    log: { level: 'trace', format: 'json' },
    moves: { roles: ['app'], verifiers: { user: 'pointsman_lookup', password_file: passwordFile } },
    workers,
  });
  closing.push(() => pointsman.stop());
  await pointsman.waitUntilReady();

  const at = { host: '127.0.0.1', port: await pointsman.port('write'), database: 'postgres' };
  const client = new Client({ ...at, user: 'app', password: APP_PASSWORD });
  await client.connect();
  closing.push(() => client.end());
  await client.query("SET work_mem = '7MB'");
  // No catalog lists it: Pointsman has read its name.
  await client.query("SET app.tenant = 'north'");
  await client.query('PREPARE twice (int) AS SELECT $1 * 2 AS n');
  const backend = async (): Promise<unknown> => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0];
  const before = await backend();
  const { id } = await pointsman.waitFor('the session', async () => {
    const list = sessions.parse(await request(pointsman, 'GET', '/sessions'));
    return list.sessions[0];
  });
  expect(await request(pointsman, 'POST', `/sessions/${id}/move`)).toMatchObject({ result: 'moved' });
  expect(await backend()).not.toEqual(before);
  expect((await client.query('SHOW work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
  expect((await client.query("SELECT current_setting('app.tenant', true) AS t")).rows).toEqual([{ t: 'north' }]);
  expect((await client.query('EXECUTE twice (21)')).rows).toEqual([{ n: 42 }]);

  const said = JSON.stringify(pointsman.lines) + pointsman.stderr.join('');
  const status = JSON.stringify(await request(pointsman, 'GET', '/status'));
  for (const secret of [APP_PASSWORD, LOOKUP_PASSWORD, verifier.split('$').at(-1) ?? verifier]) {
    expect(said + status).not.toContain(secret);
  }
});
