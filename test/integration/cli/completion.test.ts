// Completion: the candidates for a command line, and the scripts in real shells.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { MAIN } from '../../support/processes/program.ts';

const pool = (name: string): object => ({ name, check: '/c', route: { kind: 'closed' }, why: 'w', sessions: null });
const member = (name: string): object => ({
  name,
  role: 'replica',
  state: 'running',
  timeline: 1,
  last_answer_age_seconds: 1,
  pools: {},
});
const STATUS = {
  uptime_seconds: 1,
  cluster: { scope: 'lab', timeline: 1, drained: [], scheduled_switchover: null },
  members: [member('pg-1'), member('pg-22')],
  pools: [pool('write'), pool('read')],
  incidents: [{ id: '2026-11-22-1' }],
};
const BRANCHES = { branches: [{ name: 'pr-1' }, { name: 'dev-1' }] };
const server = createServer(({ url }, response) =>
  response.end(JSON.stringify(url === '/branches' ? BRANCHES : STATUS)),
);
let address = '';
let port = 0;
beforeAll(async () => {
  port = await listen(server);
  address = `127.0.0.1:${port}`;
});
afterAll(() => close(server));

async function complete(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  let out = '';
  const io = {
    env: { POINTSMAN_ADMIN_ADDRESS: address, ...env },
    stdout: (text: string) => void (out += text),
    stderr: () => {},
  };
  expect(await runCli(['__complete', '--', ...words], io, cliParts())).toBe(0);
  return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

describe('the candidates', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['commands', ['dra'], ['drain']],
    ['commands of a group', ['config', 'pr'], ['print']],
    ['options', ['explain', '--j'], ['--json']],
    ['pools of the running Pointsman', ['explain', '--pool', ''], ['write', 'read']],
    ['a pool behind an equals sign', ['explain', '--pool=r'], ['--pool=read']],
    ['the same as bash splits it', ['explain', '--pool', '=', 'r'], ['read']],
    ['an equals sign as bash splits it', ['explain', '--pool', '='], ['write', 'read']],
    ['members', ['drain', 'pg-2'], ['pg-22']],
    ['incidents', ['incidents', 'show', ''], ['latest', '2026-11-22-1']],
    ['members behind an option with a value', ['drain', '--admin', 'x:1', ''], []],
    ['choices of an argument', ['accept', 't'], ['timeline']],
    ['choices of an option', ['run', '--log-level', 'w'], ['warn']],
    ['commands as an argument', ['help', 'dra'], ['drain']],
    ['files', ['check', '-c', ''], [':files']],
    ['nothing for an unknown word', ['drain', 'pg-1', 'x'], []],
    ['branches', ['branches', 'delete', 'p'], ['pr-1']],
    ['a branch as a target', ['branches', 'explain', 'app@p'], ['app@pr-1']],
    ['a target as bash splits it', ['branches', 'explain', 'app', '@', 'p'], ['pr-1']],
    ['an at sign as bash splits it', ['branches', 'explain', 'app', '@'], ['pr-1', 'dev-1']],
    ['a branch as the value of an option', ['branches', 'create', 'x', '--parent', 'd'], ['dev-1']],
    ['shells', ['completion', ''], ['bash', 'zsh', 'fish']],
  ])('%s', async (_, words, expected) => {
    expect(await complete(words)).toEqual(expected);
  });

  test('names come from the Pointsman that the command line names, also where bash splits its address', async () => {
    const none = { POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1' };
    expect(await complete(['drain', 'pg-2'], none)).toEqual([]);
    expect(await complete(['drain', '--admin', address, 'pg-2'], none)).toEqual(['pg-22']);
    expect(await complete(['drain', `--admin=${address}`, 'pg-2'], none)).toEqual(['pg-22']);
    expect(await complete(['drain', '--admin', '=', '127.0.0.1', ':', `${port}`, 'pg-2'], none)).toEqual(['pg-22']);
  });

  test('hidden commands are no candidates', async () => {
    expect(await complete(['__'])).toEqual([]);
    expect(await complete([''])).toContain('status');
  });
});

/** Each reads the script and then commands from its terminal. */
const SHELLS = {
  bash: { start: 'bash --norc --noprofile -i', load: 'source <(pointsman completion bash)' },
  zsh: {
    start: 'zsh -f -i',
    load: 'autoload -U compinit; compinit -u -D; source <(pointsman completion zsh)',
  },
  fish: { start: 'fish --no-config -i', load: 'pointsman completion fish | source' },
};

const where = (program: string): boolean =>
  ['/bin', '/usr/bin', '/usr/local/bin'].some((directory) => existsSync(join(directory, program)));

describe.each(Object.entries(SHELLS))('%s', (shell, { start, load }) => {
  const missing = where(shell) ? undefined : `${shell}: npm run prerequisites`;
  describeUnless(missing, 'on a terminal', () => {
    let directory = '';
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'pointsman-completion-'));
      const program = join(directory, 'pointsman');
      // It completes as the program does. All else only shows its arguments.
      const real = `exec ${process.execPath} ${MAIN} "$@"`;
      await writeFile(program, `#!/bin/sh\ncase $1 in __complete|completion) ${real};; esac\necho "ran <$*>"\n`);
      await chmod(program, 0o755);
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    it('completes commands, options and names, and evaluates nothing', async () => {
      const child = spawn('script', ['-qec', start, '/dev/null'], {
        cwd: directory,
        env: {
          PATH: `${directory}:${process.env['PATH']}`,
          HOME: directory,
          TERM: 'dumb',
          POINTSMAN_ADMIN_ADDRESS: address,
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        },
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
      const ended = new Promise((resolve) => void child.once('close', resolve));
      const type = async (text: string, expected: string): Promise<void> => {
        child.stdin.write(text);
        await vi.waitFor(() => expect(out).toContain(expected), { timeout: 15_000, interval: 50 });
      };
      await type(`${load}; echo rea''dy\n`, 'ready');
      await type('pointsman drai\tpg-2\t\n', 'ran <drain pg-22>');
      await type('pointsman explain --poo\tr\t\n', 'ran <explain --pool read>');
      await type('pointsman drain $(touch evaluated) --con\t', '--config');
      // Ctrl-U: the line is dropped without being run.
      child.stdin.write('\u0015');
      await type('pointsman accep\tt\t\n', 'ran <accept timeline>');
      expect(existsSync(join(directory, 'evaluated'))).toBe(false);
      child.stdin.write('exit\n');
      await ended;
    }, 60_000);
  });
});
