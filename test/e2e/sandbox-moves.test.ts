// The path of the first try with moves: the sandbox in one terminal, an open session in another one, and a switchover
// and a kill in a third one; a read that sees its row on a slow replica. Real servers, the real program, the real
// commands; in plain text, and with TLS alone on both sides of Pointsman.
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { quoted } from '../../src/sandbox/console/connection-url.ts';
import { askEndpoints } from '../../src/sandbox/console/control-client.ts';
import { runStatement } from '../../src/sandbox/console/statement.ts';
import { hasPsql } from '../../src/sandbox/console/psql.ts';
import { missingForSandbox } from '../support/runner/sandbox-availability.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { runPointsman } from '../support/processes/run-program.ts';
import type { Ended } from '../support/processes/run-program.ts';
import { SandboxProcess } from '../support/processes/sandbox-process.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';

async function writtenOn(session: Client): Promise<unknown> {
  return (await session.query<{ written_on: string }>('execute write')).rows[0]?.written_on;
}

async function isLongIdle(url: string): Promise<boolean> {
  const { rows } = await runStatement(
    url,
    "select now() - state_change > interval '4 s' as idle from pg_stat_activity where application_name = 'mine'",
  );
  return rows[0]?.['idle'] === true;
}

describeUnless(missingForSandbox, 'moves of the sandbox, from the banner on', () => {
  pathWith(['--moves', '--causal-reads']);
});
describeUnless(missingForSandbox, 'moves of the sandbox with TLS, from the banner on', () => {
  pathWith(['--moves', '--tls', '--causal-reads']);
});

function pathWith(flags: readonly string[]): void {
  const isEncrypted = flags.includes('--tls');
  let sandbox: SandboxProcess;
  let write = '';
  let read = '';
  let file = '';
  let client: Client | undefined;
  beforeAll(async () => {
    sandbox = await SandboxProcess.start(flags);
    [, file = ''] = await sandbox.waitForOutput(/switchover -c (\S+)/, 60_000);
    const found = await askEndpoints(sandbox.control);
    if ('kind' in found) expect.fail(found.text);
    ({ write, read } = found);
  });
  afterEach(() => client?.end().catch(() => {}));
  afterAll(async () => {
    await sandbox.end('SIGKILL');
  });

  const pointsman = (...args: readonly string[]): Promise<Ended> => runPointsman([...args, '-c', file]);

  async function connect(url = write): Promise<Client> {
    const connected = new Client({ connectionString: url });
    client = connected;
    await connected.connect();
    await connected.query("set application_name = 'mine'");
    await connected.query('prepare write as insert into visits default values returning written_on');
    return connected;
  }

  it('the banner has the session to leave open, if psql is there', () => {
    const line = `psql ${quoted(write)}     # leave it open`;
    if (hasPsql()) expect(sandbox.output).toContain(line);
    else expect(sandbox.output).not.toContain('psql postgresql:');
  });

  it('a client and a server see the TLS that there is, and nobody connects without it', async () => {
    const { rows } = await (await connect()).query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: isEncrypted }]);
    if (!isEncrypted) return;
    await expect(runStatement(sandbox.write, 'select 1')).rejects.toThrow('TLS is required');
    const [, member = ''] = await sandbox.waitForOutput(/pg-1 +(127\.0\.0\.1:\d+)/, 1000);
    const direct = runStatement(`postgresql://app:app@${member}/app`, 'select 1');
    await expect(direct).rejects.toThrow('no encryption');
  });

  it('check --live says that the verifier of the role can be read', async () => {
    const { code, stdout } = await pointsman('check', '--live');
    expect(stdout).toMatch(/^verifiers: .* 1 of 1 roles: app$/m);
    expect(code).toBe(0);
  });

  it('a slow replica: a read is late, sees its row all the same, and is shown', async () => {
    const reader = await connect(read);
    // On a busy machine the first read may be late, and then its session is at the primary for 10 s.
    const atReplica = async (): Promise<string | undefined> => {
      const text = "select current_setting('cluster_name') as member where pg_is_in_recovery()";
      return (await reader.query<{ member: string }>(text)).rows[0]?.member;
    };
    const member = await waitUntil('a session at a replica', atReplica, { timeoutMs: 60_000 });
    expect(await sandbox.second('slow', member)).toMatchObject({ code: 0 });
    const missed: unknown[] = [];
    const seesItsRow = async (): Promise<boolean> => {
      const { rows } = await runStatement(write, 'insert into visits default values returning id');
      const id = Number(rows[0]?.['id']);
      if ((await reader.query(`select from visits where id = ${id}`)).rowCount !== 1) missed.push(id);
      return sandbox.output.includes(`a read was late on ${member}`);
    };
    await waitUntil('a late read', seesItsRow, { timeoutMs: 60_000, explain: async () => sandbox.output });
    expect(missed).toEqual([]);
    const { stdout } = await runPointsman(['status', '--admin', sandbox.admin]);
    expect(stdout).toMatch(/late reads +\d+ reads? of pool read (was|were) late on /);
    expect(await sandbox.second('heal')).toMatchObject({ code: 0 });
  });

  it('G24: an open session goes on at the next primary, with its settings and its statements', async () => {
    const session = await connect();
    const before = await writtenOn(session);
    const { code, stdout } = await pointsman('switchover', '--yes');
    expect(stdout).toMatch(/1 session moved, 0 sessions ended, 0 cut/);
    expect(code).toBe(0);
    expect(await writtenOn(session)).not.toBe(before);
    expect((await session.query('show application_name')).rows).toEqual([{ application_name: 'mine' }]);
    expect((await pointsman('sessions')).stdout).toMatch(/ yes /);
  });

  it('and so it does when the primary dies while it is idle', async () => {
    const session = await connect();
    const before = await writtenOn(session);
    // A session that got an answer in the last three seconds ends: nobody knows whether the next primary has it.
    await waitUntil('a long pause', () => isLongIdle(write), { timeoutMs: 60_000 });
    expect(await sandbox.second('kill', 'primary')).toMatchObject({ code: 0 });
    expect(await writtenOn(session)).not.toBe(before);
  });

  it('the dead member comes back as a replica', async () => {
    expect(await sandbox.second('heal')).toMatchObject({ code: 0, stdout: expect.stringContaining('stream from') });
  });
}
