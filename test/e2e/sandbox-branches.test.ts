// The path of the first try: the sandbox with branches in one terminal, commands and clients in another one. Real
// servers, the real program, the real commands.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runStatement } from '../../src/sandbox/console/statement.ts';
import { hasPsql } from '../../src/sandbox/console/psql.ts';
import { missingForSandbox } from '../support/runner/sandbox-availability.ts';
import { runPointsman, runProgram } from '../support/processes/run-program.ts';
import type { Ended } from '../support/processes/run-program.ts';
import { SandboxProcess } from '../support/processes/sandbox-process.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { describeUnless, itUnless } from '../support/runner/unless-missing.ts';

const COUNT = 'select count(*)::int as count from visits';
const WRITE = 'insert into visits default values returning written_on';
const REFUSED = 4;

async function count(url: string): Promise<unknown> {
  const { rows } = await runStatement(url, COUNT);
  return rows[0]?.['count'];
}

/** SQLSTATE of the refusal. */
async function codeOf(url: string): Promise<unknown> {
  const refusal: unknown = await count(url).catch((error: unknown) => error);
  return refusal instanceof DatabaseError ? refusal.code : undefined;
}

describeUnless(missingForSandbox, 'branches of the sandbox, from the banner on', () => {
  let sandbox: SandboxProcess;
  let file = '';
  let shown = '';
  beforeAll(async () => {
    sandbox = await SandboxProcess.start(['--branches']);
    [, file = ''] = await sandbox.waitForOutput(/branches create pr-1 -c (\S+)/, 60_000);
    for (let row = 0; row < 2; row += 1) await runStatement(sandbox.write, WRITE);
  });
  afterAll(async () => {
    await sandbox.end('SIGKILL');
  });

  /** `pointsman branches ARGS…` as the banner shows it. */
  async function branches(...args: readonly string[]): Promise<Ended> {
    const ended = await runPointsman(['branches', ...args, '-c', file]);
    shown += ended.stdout + ended.stderr;
    return ended;
  }

  it('a branch has the rows of its parent and its own writes; the parent stays as it was', async () => {
    const before = statSync(file).ino;
    const created = await branches('create', 'pr-1');
    expect(statSync(file).ino, 'a command that reads the file finds all of it').not.toBe(before);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/connect with: psql '\S+@pr-1'/) });
    expect(created.stderr).toBe('');
    const branch = `${sandbox.write}@pr-1`;
    expect(await count(branch)).toBe(2);
    const { rows } = await runStatement(branch, WRITE);
    expect(rows[0]?.['written_on']).toMatch(/^branch-/);
    expect([await count(branch), await count(`${sandbox.read}@pr-1`), await count(sandbox.write)]).toEqual([3, 3, 2]);
  });

  itUnless(hasPsql() ? undefined : 'psql', 'psql connects with the command of the banner', async () => {
    const { code, stdout } = await runProgram('psql', [`${sandbox.write}@pr-1`, '-Atc', 'select count(*) from visits']);
    expect([code, stdout.trim()]).toEqual([0, '3']);
  });

  it('the same command again finds the branch, with its writes', async () => {
    expect(await branches('create', 'pr-1')).toMatchObject({ code: 0 });
    expect(await count(`${sandbox.write}@pr-1`)).toBe(3);
  });

  it('a branch of a branch, and a branch at an earlier position', async () => {
    const { rows } = await runStatement(sandbox.write, 'select pg_current_wal_lsn()::text as lsn');
    await runStatement(sandbox.write, WRITE);
    expect(await branches('create', 'pr-1-child', '--parent', 'pr-1')).toMatchObject({ code: 0 });
    expect(await branches('create', 'before', '--at', String(rows[0]?.['lsn']))).toMatchObject({ code: 0 });
    const counts = [await count(`${sandbox.write}@pr-1-child`), await count(`${sandbox.write}@before`)];
    expect([...counts, await count(sandbox.write)]).toEqual([3, 2, 3]);
  });

  it('a parent cannot be deleted; its child can, and is unknown then', async () => {
    const refused = await branches('delete', 'pr-1', '-y');
    expect(refused).toMatchObject({ code: REFUSED, stderr: expect.stringContaining('pr-1-child') });
    expect(await count(`${sandbox.write}@pr-1`)).toBe(3);
    expect(await branches('delete', 'pr-1-child', '-y')).toMatchObject({ code: 0 });
    // The list of branches is read every two seconds; until then Pointsman has a branch without a server.
    const isUnknown = async (): Promise<boolean> => (await codeOf(`${sandbox.write}@pr-1-child`)) === '3D000';
    await waitUntil('the branch is unknown', isUnknown, { timeoutMs: 30_000 });
  });

  it('an unknown branch is refused, and so is the cluster as a branch', async () => {
    expect(await codeOf(`${sandbox.write}@pr-2`)).toBe('3D000');
    const { stdout } = await branches('list', '--json');
    expect(stdout).toContain('pr-1');
    const [, root = ''] = /overrides:\s+(\S+):/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(await codeOf(`${sandbox.write}@${root}`)).toBe('28000');
  });

  it('a session on a branch outlives a switchover, and new branches come from the new primary', async () => {
    const client = new Client({ connectionString: `${sandbox.write}@pr-1` });
    await client.connect();
    try {
      expect(await sandbox.second('switchover')).toMatchObject({ code: 0 });
      await runStatement(sandbox.write, WRITE);
      expect((await client.query(COUNT)).rows).toEqual([{ count: 3 }]);
      expect(await branches('create', 'after')).toMatchObject({ code: 0 });
      expect(await count(`${sandbox.write}@after`)).toBe(4);
    } finally {
      await client.end();
    }
  });

  it('the API key is in no output', () => {
    const key = readFileSync(join(dirname(file), 'console-api-key'), 'utf8').trim();
    expect(key.length).toBeGreaterThan(20);
    expect([sandbox.output.includes(key), shown.includes(key)]).toEqual([false, false]);
  });

  it('Ctrl-C ends the branches, too', async () => {
    expect(await sandbox.end('SIGINT')).toBe(0);
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});
