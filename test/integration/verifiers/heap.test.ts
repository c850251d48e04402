// After a batch no string of the process has the verifier, or the password of the lookup role.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { addressOf, ask, prepareServers, startAs } from '../../support/sandbox/postgres.ts';

const MAIN = new URL('../../support/processes/verifier-heap-main.ts', import.meta.url).pathname;
const SQL = new URL('../../../deploy/moves.sql', import.meta.url);
const PASSWORD = 'battery-staple-7';

test('a picture of the heap after a batch', { timeout: 120_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  await startAs(server, undefined);
  await server.query(await readFile(SQL, 'utf8'), [], 15_000);
  await server.query(`ALTER ROLE pointsman_lookup PASSWORD '${PASSWORD}';
    CREATE ROLE app LOGIN PASSWORD 'x' IN ROLE pointsman_movable`);
  const verifier = (await ask(server, "SELECT rolpassword FROM pg_authid WHERE rolname = 'app'")) ?? '';
  const storedKey = verifier.split('$').at(-1)?.split(':')[0] ?? '';
  expect(storedKey).toHaveLength(44);
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const [passwordFile, picture] = [join(directory, 'password'), join(directory, 'heap')];
  await writeFile(passwordFile, PASSWORD);
  const query = 'SELECT pointsman.verifier($1)';
  const policy = { kind: 'query', user: 'pointsman_lookup', passwordFile, database: 'postgres', query };

  async function heap(...more: readonly string[]): Promise<string> {
    const args = [MAIN, JSON.stringify(policy), JSON.stringify(addressOf(server)), picture, ...more];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe(`found ${more.length === 0 ? 0 : verifier.length}\n`);
    // JSON escapes a slash nowhere, and base64 has nothing else to escape.
    return await readFile(picture, 'utf8');
  }

  const clean = await heap();
  expect(clean.length).toBeGreaterThan(1_000_000);
  expect(clean).toContain('pointsman_lookup');
  expect(clean.includes(storedKey)).toBe(false);
  expect(clean.includes(PASSWORD)).toBe(false);
  // The same search finds a string that is kept.
  expect((await heap('keep')).includes(storedKey)).toBe(true);
});
