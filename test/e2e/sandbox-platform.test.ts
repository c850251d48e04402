// From an outage to a request that a platform takes: the sandbox with a platform in one terminal, the commands of
// deploy/agents.md in another one. Real servers, the real program, the real commands.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { missingForSandbox } from '../support/runner/sandbox-availability.ts';
import { waitUntil } from '../support/waiting/wait.ts';
import { runPointsman, runProgram } from '../support/processes/run-program.ts';
import type { Ended } from '../support/processes/run-program.ts';
import { SandboxProcess } from '../support/processes/sandbox-process.ts';
import { describeUnless, itUnless } from '../support/runner/unless-missing.ts';

const RUNBOOK = 'deploy/skills/pointsman-runbook';
/** The client is in it while its primary dies. */
const STATEMENT = "select 'a-patient-called-smith' as secret_column, pg_sleep(600)";
const QUESTION = 'What happened, and which next step is safe?';
const missingForCurl = ['curl', 'jq'].find(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0,
);
const LIMIT = { timeout: 120_000 };

const incidents = z.object({ incidents: z.array(z.looseObject({ id: z.string(), state: z.string() })) });
const printed = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.looseObject({ tools: z.array(z.unknown()), messages: z.array(z.unknown()) }),
});
type Printed = z.infer<typeof printed>;

describeUnless(missingForSandbox, 'from an incident to a request, in the sandbox', () => {
  let sandbox: SandboxProcess;
  /** The state of the user: what was published and uploaded. */
  let state: string;
  let [file, check, skill, uploaded, clientPort, shown] = ['', '', '', '', '', ''];
  beforeAll(async () => {
    state = mkdtempSync(join(tmpdir(), 'pointsman-state-'));
    sandbox = await SandboxProcess.start(['--platform']);
    [, file = ''] = await sandbox.waitForOutput(/-c (\S+pointsman\.yaml)/, 60_000);
    [, check = ''] = await sandbox.waitForOutput(/(http:\S+\/message-check)/, 60_000);
  });
  afterAll(async () => {
    rmSync(state, { recursive: true });
    await sandbox.end('SIGKILL');
  });

  async function pointsman(...args: readonly string[]): Promise<Ended> {
    const ended = await runPointsman([...args, '-c', file], { XDG_STATE_HOME: state });
    shown += ended.stdout + ended.stderr;
    return ended;
  }

  async function hasSettled(): Promise<boolean> {
    const { stdout } = await runPointsman(['incidents', 'list', '--json', '-c', file]);
    return incidents.safeParse(JSON.parse(stdout || '{}')).data?.incidents[0]?.state === 'settled';
  }

  const folder = (): string => join(dirname(file), 'platform');
  const key = (): string => readFileSync(join(folder(), 'api-key'), 'utf8').trim();
  const storedFiles = (): readonly string[] => readdirSync(join(folder(), 'files')).toSorted();

  /** The answer of the platform, as it would judge the request. */
  async function judged({ headers, body }: Printed): Promise<{ readonly status: number; readonly text: string }> {
    const all = { ...headers, 'x-api-key': key(), 'content-type': 'application/json' };
    const response = await fetch(check, { method: 'POST', headers: all, body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  }

  async function request(): Promise<Printed> {
    const limits = ['--model', 'vendor-opus-5', '--max-tokens', '4000'];
    const ended = await pointsman(
      'incidents',
      'request',
      'latest',
      '--skill',
      skill,
      ...limits,
      '--question',
      QUESTION,
    );
    expect(ended).toMatchObject({ code: 0 });
    return printed.parse(JSON.parse(ended.stdout));
  }

  it('publishes the runbook; the same content again needs no request', LIMIT, async () => {
    const published = await pointsman('skill', 'publish', RUNBOOK, '--create');
    expect(published).toMatchObject({ code: 0 });
    skill = /skill_\w+/.exec(published.stdout)?.[0] ?? expect.fail(published.stdout);
    expect(await pointsman('skill', 'publish', RUNBOOK)).toMatchObject({ code: 0 });
    const versions = readdirSync(join(folder(), 'skills', skill));
    expect(versions).toHaveLength(1);
    const mounted = join(folder(), 'skills', skill, versions[0] ?? '', 'pointsman-runbook');
    expect(readFileSync(join(mounted, 'SKILL.md'), 'utf8')).toBe(readFileSync(`${RUNBOOK}/SKILL.md`, 'utf8'));
  });

  it('the death of the primary is an incident, and its upload is one file', LIMIT, async () => {
    const socket = new Socket();
    const client = new Client({ connectionString: sandbox.write, stream: () => socket });
    client.on('error', () => {});
    await client.connect();
    try {
      clientPort = String(socket.localPort);
      const cut = expect(client.query(STATEMENT)).rejects.toThrow();
      expect(await sandbox.second('kill', 'primary')).toMatchObject({ code: 0 });
      await cut;
    } finally {
      await client.end().catch(() => {});
    }
    await waitUntil('a settled incident', hasSettled, { timeoutMs: 90_000 });
    const upload = await pointsman('incidents', 'upload', 'latest');
    expect(upload).toMatchObject({ code: 0 });
    uploaded = /file_\w+/.exec(upload.stdout)?.[0] ?? expect.fail(upload.stdout);
    const again = await pointsman('incidents', 'upload', 'latest');
    expect([again.code, again.stdout.includes(uploaded)]).toEqual([0, true]);
    expect(storedFiles()).toEqual([uploaded]);
  });

  it('the request refers to the stored file and skill, and the platform takes it', LIMIT, async () => {
    const asked = await request();
    const { status, text } = await judged(asked);
    expect([status, text]).toEqual([200, expect.stringContaining(uploaded)]);
    expect(text).toContain(skill);
    expect(JSON.stringify(asked.body)).toContain(QUESTION);
  });

  itUnless(missingForCurl, 'the last of the four commands of the page sends it', async () => {
    const [, command = ''] = /^(curl .*?)^```$/ms.exec(readFileSync('deploy/agents.md', 'utf8')) ?? [];
    writeFileSync(join(state, 'request.json'), JSON.stringify(await request()));
    writeFileSync(join(state, 'header'), `x-api-key: ${key()}\n`);
    const here = command.replace('/run/secrets/platform-header', join(state, 'header'));
    const sent = await runProgram('sh', ['-c', `cd '${state}' && ${here}`], { MESSAGES_URL: check });
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining(uploaded) });
  });

  it('the platform refuses it without any one of its parts, and any one of its beta values', LIMIT, async () => {
    const asked = await request();
    const [header, value] = Object.entries(asked.headers).find(([, one]) => one.includes('skills-')) ?? ['', ''];
    const values = value.split(',').map((one) => one.trim());
    expect(values).toHaveLength(3);
    const without: Printed[] = [
      { ...asked, body: { ...asked.body, container: undefined } },
      { ...asked, body: { ...asked.body, tools: [] } },
      ...values.map((left) => ({ ...asked, headers: { [header]: values.filter((one) => one !== left).join(',') } })),
    ];
    for (const lacking of without) expect([lacking, (await judged(lacking)).status]).toEqual([lacking, 400]);
  });

  it('neither the request nor the file has a secret, the address or the name of a client, or SQL', async () => {
    const asked = JSON.stringify(await request());
    const [name = ''] = readdirSync(join(folder(), 'files', uploaded));
    const text = readFileSync(join(folder(), 'files', uploaded, name), 'utf8');
    expect(text).toContain('# Incident ');
    expect(text).toContain('client-1');
    for (const sent of [asked, text]) {
      for (const secret of [key(), 'sandbox-operator', 'a-patient', 'secret_column', 'pg_sleep', 'app:app', 'app@'])
        expect([secret, sent.includes(secret)]).toEqual([secret, false]);
      expect(sent).not.toMatch(/\b(?:user|database)[= ]"?app\b/);
      expect(sent).not.toContain(`:${clientPort}`);
    }
    expect([sandbox.output.includes(key()), shown.includes(key())]).toEqual([false, false]);
  });

  it('Ctrl-C ends the platform, too, and removes what it stored', async () => {
    expect(await sandbox.end('SIGINT')).toBe(0);
    expect(existsSync(folder())).toBe(false);
    await expect(fetch(check)).rejects.toThrow('fetch failed');
  });
});
