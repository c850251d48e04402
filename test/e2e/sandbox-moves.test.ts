// The path of the first try with moves: the sandbox in one terminal, an open session in another one, and a switchover
// and a kill in a third one. Real servers, the real program, the real commands.
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
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

describeUnless(missingForSandbox, 'moves of the sandbox, from the banner on', () => {
  let sandbox: SandboxProcess;
  let file = '';
  let client: Client | undefined;
  beforeAll(async () => {
    sandbox = await SandboxProcess.start(['--moves']);
    [, file = ''] = await sandbox.waitForOutput(/switchover -c (\S+)/, 60_000);
  });
  afterEach(() => client?.end().catch(() => {}));
  afterAll(async () => {
    await sandbox.end('SIGKILL');
  });

  const pointsman = (...args: readonly string[]): Promise<Ended> => runPointsman([...args, '-c', file]);

  async function connect(): Promise<Client> {
    const connected = new Client({ connectionString: sandbox.write });
    client = connected;
    await connected.connect();
    await connected.query("set application_name = 'mine'");
    await connected.query('prepare write as insert into visits default values returning written_on');
    return connected;
  }

  it('the banner has the session to leave open, if psql is there', () => {
    const line = /Moves +psql postgresql:/;
    if (hasPsql()) expect(sandbox.output).toMatch(line);
    else expect(sandbox.output).not.toMatch(line);
  });

  it('check --live says that the verifier of the role can be read', async () => {
    const { code, stdout } = await pointsman('check', '--live');
    expect(stdout).toMatch(/^verifiers: .* 1 of 1 roles: app$/m);
    expect(code).toBe(0);
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
    const isLongIdle = async (): Promise<boolean> => {
      const { rows } = await runStatement(
        sandbox.write,
        "select now() - state_change > interval '4 s' as idle from pg_stat_activity where application_name = 'mine'",
      );
      return rows[0]?.['idle'] === true;
    };
    await waitUntil('a long pause', isLongIdle, { timeoutMs: 60_000 });
    expect(await sandbox.second('kill', 'primary')).toMatchObject({ code: 0 });
    expect(await writtenOn(session)).not.toBe(before);
  });
});
