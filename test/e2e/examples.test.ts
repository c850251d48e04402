// Every command has examples in its help, and each of them works: against a sandbox, with a Pointsman in front of it,
// as a process of its own. A new command is covered by its help alone.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { EXIT } from '../../src/cli/io.ts';
import type { SandboxParts } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/program.ts';
import { TRAFFIC, VERBS } from '../../src/sandbox/console/verb-list.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { startFakeStorageNode } from '../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../support/branches/fake-storage-node.ts';
import { startPlatform } from '../../src/sandbox/platform/start-platform.ts';
import type { RunningPlatform } from '../../src/sandbox/platform/start-platform.ts';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { allHelp, callsIn } from '../support/documents/help.ts';
import { cliParts } from '../support/fakes/cli-parts.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { MAIN } from '../support/processes/program.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

/** Examples that a healthy cluster refuses, with the words of the refusal. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'pointsman cluster cancel switchover': /nothing to cancel: no switchover is scheduled/,
  'pointsman accept timeline': /nothing to accept: no primary is refused for its timeline/,
  'pointsman incidents list --directory /var/lib/pointsman': /cannot be read: there is no such file/,
  'pointsman incidents show latest': /there are no incidents/,
  'pointsman incidents upload latest': /there are no incidents/,
  'pointsman incidents request latest --skill pointsman-runbook --model vendor-opus-5 --max-tokens 4096':
    /there are no incidents/,
  'pointsman incidents show 2026-11-22-1 --json': /unknown incident 2026-11-22-1: the incidents are \(none\)/,
  'pointsman sessions move 17': /the configuration has no section `moves`/,
  'pointsman sessions move 17 18 --abort': /the configuration has no section `moves`/,
  'pointsman explain 10.0.0.5:51234': /no session of 10.0.0.5:51234: it has ended, or never existed/,
  'pointsman kill 17': /no session 17: it has ended, or never existed/,
  'pointsman kill 17 18 --dry-run': /no session 18: it has ended, or never existed/,
};

/** The dynamic configuration, with the timings and the connections of the sandbox. */
const DYNAMIC = 'ttl: 5\nloop_wait: 1\nretry_timeout: 2\npostgresql: { parameters: { max_connections: 200 } }\n';

/** These go on until Ctrl-C. */
const ENDLESS = /^pointsman (?:run|top)\b|--follow\b|--watch\b/;

function isEndless(words: readonly string[]): boolean {
  return ENDLESS.test(words.join(' '));
}

/** test/e2e/sandbox-command.test.ts runs these; a sandbox inside a sandbox takes too long. */
const ONLY_PARSED = /^pointsman sandbox\b/;

/** A second proxy needs addresses of its own. */
const SECOND_PROXY = {
  POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:0',
  POINTSMAN_LISTENERS_0_ADDRESS: '127.0.0.1:0',
  POINTSMAN_LISTENERS_1_ADDRESS: '127.0.0.1:0',
};

const answer = { ok: true, text: '' };
const sandbox: SandboxParts = {
  verbs: [...VERBS, TRAFFIC],
  run: () => Promise.resolve(EXIT.ok),
  ask: () => Promise.resolve(answer),
  sql: () => Promise.resolve(answer),
  config: () => Promise.resolve(answer),
};
const parts = cliParts({ runApp: () => Promise.resolve(EXIT.ok), sandbox });

async function inProcess(argv: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  let out = '';
  const io = { env: {}, stdout: (text: string) => void (out += text), stderr: (text: string) => void (out += text) };
  return { code: await runCli(argv, io, parts), out };
}

const HELP = await allHelp(async (command) => (await inProcess([...command, '--help'])).out);
const EXAMPLES = [...new Set(HELP.flatMap(({ examples }) => examples))].map((example) => ({
  example,
  calls: callsIn(example),
}));

test('every command has an example in its help, of itself', () => {
  const without = HELP.filter(
    ({ command, examples }) => !examples.some((example) => example.includes(`pointsman ${command}`.trim())),
  );
  expect(HELP.length).toBeGreaterThan(20);
  expect(without.map(({ command }) => command)).toEqual([]);
});

test('every refused example is in some help', () => {
  const all = EXAMPLES.map(({ example }) => example);
  expect(Object.keys(REFUSED).filter((example) => !all.includes(example))).toEqual([]);
});

const PARSED = EXAMPLES.filter(({ example }) => ONLY_PARSED.test(example));
test.each(PARSED)('$example is understood', async ({ calls }) => {
  for (const { words } of calls) expect(await inProcess(words.slice(1))).toMatchObject({ code: EXIT.ok });
});

describeOnSandbox('each example', (on) => {
  const lab = on.clusterWithPointsman({ pointsman: { admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN } } });
  let directory = '';
  let admin = '';
  let storage: FakeStorageNode;
  let platform: RunningPlatform;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-examples-'));
    await waitForCandidates(lab);
    admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    storage = await startFakeStorageNode();
    platform = await startPlatform(join(directory, 'platform'), () => {});
    const config = configFor(lab.cluster, { admin: { address: admin, token: ADMIN_TOKEN } });
    await writeFile(
      join(directory, 'pointsman.yaml'),
      stringify({ ...config, branches: branchesOn(storage), platform: accessTo(platform) }),
    );
    await writeFile(join(directory, 'dynamic.yaml'), DYNAMIC);
    await writeFile(join(directory, 'agent.json'), '{}');
    await cp('deploy/skills', join(directory, 'deploy/skills'), { recursive: true });
  });
  afterAll(async () => {
    await storage.stop();
    await platform.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** The branches of the commands: the running Pointsman has none. */
  const branchesOn = ({ url, tenant }: FakeStorageNode): object => ({
    source: 'storage',
    storage: { url, tenant, names_file: join(directory, 'branches.json'), pg_version: 17 },
    backends: { template: '{slug}.branches.svc:5432' },
  });

  /** The addresses and the file of the example become those of this test. */
  function mine(word: string): string {
    const members = lab.cluster.members();
    return word
      .replace('/etc/pointsman/', '')
      .replace('127.0.0.1:8432', admin)
      .replaceAll(/http:\/\/10\.0\.0\.1([1-3]):8008/g, (_, n) => members[Number(n) - 1]?.api ?? '');
  }

  async function call(words: readonly string[], given: Readonly<Record<string, string>>) {
    const args = words.slice(1).map(mine);
    const env = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      EDITOR: 'true',
      XDG_STATE_HOME: join(directory, 'state'),
      ...(Object.keys(given).length === 0 ? { POINTSMAN_CONFIG: 'pointsman.yaml' } : {}),
      ...(words[1] === 'run' ? SECOND_PROXY : {}),
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, mine(value)])),
    };
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      // Once: a second one would end it at once.
      if (isEndless(words) && out === '') child.kill('SIGINT');
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
    const code = await new Promise<number | string>((resolve) => {
      child.once('close', (exitCode, signal) => resolve(exitCode ?? signal ?? 'unknown'));
    });
    return { code, out, err };
  }

  it.each(EXAMPLES.filter(({ example }) => !ONLY_PARSED.test(example)))('$example', async ({ example, calls }) => {
    expect(calls).not.toEqual([]);
    for (const { words, env } of calls) {
      if (words[1] === 'switchover') await waitForCandidates(lab);
      // No terminal can be asked here.
      const asks = HELP.some(({ command, help }) => isCallOf(words, command) && /^ {2}(?:-y, )?--yes\b/m.test(help));
      const { code, out, err } = await call(asks && !words.includes('--yes') ? [...words, '--yes'] : words, env);
      const refused = REFUSED[example];
      if (refused !== undefined) expect(err).toMatch(refused);
      const ended = isEndless(words) && words[1] !== 'run' ? EXIT.interrupted : EXIT.ok;
      expect(code, `${out}${err}`).toBe(refused === undefined ? ended : EXIT.failure);
    }
    await lab.cluster.waitUntilHealthy();
  });

  /** With --dry-run, a command that has it changes nothing. */
  it.each(HELP.flatMap(jsonCall))('$line: its JSON has the version of its form', async ({ line }) => {
    await waitForCandidates(lab);
    const { code, out, err } = await call(line.split(' '), {});
    expect([code, err]).toEqual([EXIT.ok, expect.not.stringContaining('unknown option')]);
    expect(JSON.parse(out)).toMatchObject({ api_version: 1 });
  });
});

/** The examples before have done these already. */
const DONE_BEFORE = ['cluster failover', 'branches delete'];

/** The first example of a command that prints JSON and that a healthy cluster does not refuse. */
function jsonCall({ command, help, examples }: (typeof HELP)[number]): readonly { readonly line: string }[] {
  if (!/^ {2}--json\b/m.test(help) || DONE_BEFORE.includes(command)) return [];
  const example = examples.find((one) => !(one in REFUSED) && !ENDLESS.test(one));
  const [words] = callsIn(example ?? '').map((one) => one.words);
  if (words === undefined) return [];
  const isDry = /^ {2}--dry-run\b/m.test(help) && !words.includes('--dry-run');
  const asks = !isDry && /^ {2}(?:-y, )?--yes\b/m.test(help) && !words.includes('--yes');
  return [{ line: [...words, '--json', ...(isDry ? ['--dry-run'] : []), ...(asks ? ['--yes'] : [])].join(' ') }];
}

function isCallOf(words: readonly string[], command: string): boolean {
  return command !== '' && `${words.slice(1).join(' ')} `.startsWith(`${command} `);
}

function accessTo({ url, apiKeyFile, betaHeader }: RunningPlatform): object {
  return { url, api_key_file: apiKeyFile, beta_header: betaHeader };
}
