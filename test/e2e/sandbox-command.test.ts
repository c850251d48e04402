// The README's first command, with npm alone: write, kill the primary, write again. The terminal reports each event,
// and Ctrl-C leaves nothing behind.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runStatement } from '../../src/sandbox/console/statement.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { checkConfig } from '../support/processes/pointsman-process.ts';
import { SandboxProcess } from '../support/processes/sandbox-process.ts';

const WRITE = 'insert into visits default values returning written_on';

describe('pointsman sandbox', () => {
  let sandbox: SandboxProcess;
  beforeAll(async () => {
    sandbox = await SandboxProcess.start();
  });
  afterAll(async () => {
    await sandbox.end('SIGKILL');
  });

  async function writtenOn(): Promise<unknown> {
    const { rows } = await runStatement(sandbox.write, WRITE);
    return rows[0]?.['written_on'];
  }

  it('is up within about ten seconds and prints all addresses', async () => {
    const [, seconds] = await sandbox.waitForOutput(/up in ([\d.]+) s/, 1000);
    expect(Number(seconds)).toBeLessThan(20);
    expect(sandbox.output).toContain(`curl -s http://${sandbox.admin}/status`);
    expect(sandbox.output).toMatch(/pg-1 .* primary/);
    // A verb from another terminal needs the address when it is not the usual one.
    expect(sandbox.output).toContain(`--control ${sandbox.control} kill primary`);
    const status = await fetch(`http://${sandbox.admin}/status`);
    expect(status.status).toBe(200);
  });

  it('write, kill the primary, write again: the second write waits for the new primary', async () => {
    expect(await writtenOn()).toBe('pg-1');
    expect(await sandbox.second('kill', 'primary')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('pg-1 is dead'),
    });
    expect(await writtenOn()).not.toBe('pg-1');
    await sandbox.waitForOutput(/pool write: 1 client waited [\d.]+ ?m?s, then connected/, 30_000);
  });

  it('sql works through both pools, for machines without psql', async () => {
    const { code, stdout } = await sandbox.second('sql', 'insert into visits default values returning id');
    expect(code).toBe(0);
    expect(stdout).toContain('INSERT 1');
    const read = await sandbox.second('sql', '--pool', 'read', 'insert into visits default values');
    expect(read).toMatchObject({ code: 1, stderr: expect.stringContaining('read-only transaction') });
  });

  it('heal returns the dead member as a replica; switchover promotes it again without a lost row', async () => {
    expect(await sandbox.second('heal')).toMatchObject({ code: 0 });
    expect(await sandbox.second('switchover', 'pg-1')).toMatchObject({ code: 0 });
    expect(await writtenOn()).toBe('pg-1');
    const { rows } = await runStatement(sandbox.write, 'select count(*)::int as count from visits');
    expect(rows).toEqual([{ count: 4 }]);
  });

  it('lag takes the replica out of the read pool, and heal returns it', async () => {
    // After a switchover the old primary waits a moment before it returns. One probe later the pool has it again.
    expect(await sandbox.second('heal')).toMatchObject({ code: 0 });
    await sandbox.waitForOutput(/Successfully switched over to "pg-1"[^]*pool read: open on pg-2, pg-3/, 20_000);
    expect(await sandbox.second('lag', 'pg-2')).toMatchObject({ code: 0 });
    await sandbox.waitForOutput(/pool read: pg-2: lag too high/, 20_000);
    expect(await sandbox.second('heal', 'pg-2')).toMatchObject({ code: 0 });
  });

  it('steady traffic writes by both ways until the same command again', async () => {
    expect(await sandbox.second('traffic')).toMatchObject({ code: 0, stdout: expect.stringContaining('20 writes a') });
    const rows = async (): Promise<number> => {
      const found = await runStatement(sandbox.write, 'select count(*)::int as count from visits');
      return Number(found.rows[0]?.['count']);
    };
    const before = await rows();
    await waitUntil('rows', async () => (await rows()) > before + 20, { timeoutMs: 30_000, explain: async () => '' });
    const { stdout } = await sandbox.second('traffic');
    expect(stdout).toMatch(/^writes: Pointsman [1-9]\d* ok, \d+ failed.* \| libpq [1-9]\d* ok, /);
  });

  it('prints the configuration of a second Pointsman, which check --live accepts', async () => {
    const { code, stdout } = await sandbox.second('config');
    expect(code).toBe(0);
    const check = await checkConfig(stdout, '--live');
    expect([await check.exited(), check.stderr.join('')]).toEqual([0, '']);
    await check.stop();
  });

  it('a partitioned primary demotes itself, another takes over, and heal returns it as a replica', async () => {
    const first = await writtenOn();
    const cut = await sandbox.second('partition');
    expect(cut).toMatchObject({ code: 0, stdout: expect.stringContaining(`${String(first)} is cut off`) });
    // It says so before its server stops. Until another member has the lock, it may still take a write.
    const demotion = `${String(first)}: demotes itself: the store does not answer[^]* holds the leader lock`;
    await sandbox.waitForOutput(new RegExp(demotion), 60_000);
    const second = await writtenOn();
    expect(second).not.toBe(first);
    expect(await sandbox.second('heal')).toMatchObject({ code: 0, stdout: expect.stringContaining('stream from') });
    expect(await writtenOn()).toBe(second);
  });

  it('a partitioned replica receives nothing, and a slow one applies WAL later; heal ends both', async () => {
    const senders = async (): Promise<number> => {
      const found = await runStatement(sandbox.write, 'select count(*)::int as count from pg_stat_replication');
      return Number(found.rows[0]?.['count']);
    };
    const waitForSenders = async (count: number): Promise<void> => {
      const isCount = async (): Promise<boolean> => (await senders()) === count;
      await waitUntil(`${count} streams`, isCount, { timeoutMs: 30_000, explain: async () => `${await senders()}` });
    };
    await waitForSenders(2);
    expect(await sandbox.second('partition', 'replica')).toMatchObject({ code: 0 });
    await waitForSenders(1);
    expect(await sandbox.second('heal')).toMatchObject({ code: 0 });
    await waitForSenders(2);
    const slow = await sandbox.second('slow');
    const [, name = ''] = /^(pg-\d): its API answers 500 ms later/.exec(slow.stdout) ?? [];
    const { rows } = await runStatement(sandbox.read, 'select 1 as one');
    expect([name === '', rows.length]).toEqual([false, 1]);
    expect(await sandbox.second('heal', name)).toMatchObject({ code: 0 });
  });

  it('a wrong command prints the reason', async () => {
    const unknown = await sandbox.second('kill', 'pg-9');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no member pg-9') });
  });

  it('a second sandbox on the same addresses reports that one runs', async () => {
    const again = await sandbox.second();
    expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('is another sandbox running?') });
  });

  it('Ctrl-C stops it cleanly', async () => {
    expect(await sandbox.end('SIGINT')).toBe(0);
    await expect(fetch(`http://${sandbox.admin}/livez`)).rejects.toThrow();
  });
});
