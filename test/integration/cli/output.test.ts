// A command writes all of its output before it ends, whatever its length and however slow its reader.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { commandLine } from '../../../src/app/command-line.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { allHelp, callsIn } from '../../support/documents/help.ts';
import { MAIN } from '../../support/processes/program.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';

const TOKEN = '0123456789abcdef-operator';
const SESSIONS = 1000;
/** These look at something else before they ask the Pointsman: a source, a platform, a file, an editor. */
const LOCAL = /^(?:branches|sandbox|incidents (?:upload|request)|cluster config (?:edit|replace))/;

/** Takes each text only after some turns of the event loop. */
class SlowReader extends Writable {
  text = '';

  override _write(chunk: Buffer, _: string, done: () => void): void {
    let turns = 3;
    const later = (): void => {
      turns -= 1;
      if (turns > 0) return void setImmediate(later);
      this.text += chunk.toString();
      return done();
    };
    setImmediate(later);
  }
}

interface Ended {
  readonly code: number;
  /** Read when the process exits. */
  readonly out: string;
}

/** The command line in a process whose output is read slowly. */
function slowly(argv: readonly string[]): Promise<Ended> {
  const [stdout, stderr] = [new SlowReader(), new SlowReader()];
  return new Promise((resolve, reject) => {
    const own = {
      argv: ['node', 'pointsman', ...argv],
      env: { POINTSMAN_ADMIN_TOKEN: TOKEN },
      stdin: {},
      stdout,
      stderr,
      exit: (code: number) => resolve({ code, out: stdout.text + stderr.text }),
    };
    commandLine(Object.create(process, Object.getOwnPropertyDescriptors(own))).catch(reject);
  });
}

describe('every command', async () => {
  const commands = await allHelp(async (command) => (await slowly([...command, '--help'])).out);

  test('prints its whole help', () => {
    expect(commands.length).toBeGreaterThan(60);
    const cut = commands.filter(({ help }) => !help.endsWith('\n') || !help.includes('Usage: '));
    expect(cut.map(({ command }) => command)).toEqual([]);
  });

  test.each(commands.map(({ command }) => command))('%s: a wrong usage is told', async (command) => {
    const { code, out } = await slowly([...command.split(' ').filter(Boolean), '--no-such-option']);
    expect([code, out]).toEqual([2, expect.stringMatching(/^pointsman: .+\n/)]);
  });
});

describe('every command that asks a running Pointsman', async () => {
  const remote = (await allHelp(async (command) => (await slowly([...command, '--help'])).out))
    .filter(({ command, help }) => /^ {2}--admin\b/m.test(help) && !LOCAL.test(command))
    .flatMap(({ examples }) => examples.slice(0, 1))
    .flatMap((example) => callsIn(example).map(({ words }) => words.slice(1).join(' ')));

  test.each(remote)('%s: without an answer it has not been done, exit code 1', async (call) => {
    const given = call.replace(/ --(?:seed|timeout) \S+/g, '').split(' ');
    const patience = given[0] === 'wait' ? ['--timeout', '1ms'] : [];
    const { code, out } = await slowly([...given, '--admin', '127.0.0.1:1', ...patience]);
    expect([code, out]).toEqual([1, expect.stringMatching(/127\.0\.0\.1:1\b/)]);
  });
});

describe('as a process', () => {
  let admin: ReturnType<typeof createAdmin>;
  let address = '';
  beforeAll(async () => {
    const entries = Array.from({ length: SESSIONS }, (_, id) => aSessionEntry({ id }));
    const list = { sessions: entries, total: SESSIONS, silentWorkers: [] };
    const options = adminOptions({ token: () => Promise.resolve({ kind: 'token', value: TOKEN }) });
    const sessions = { ...options.sessions, list: () => Promise.resolve(list) };
    admin = createAdmin({ ...options, sessions });
    const listening = await admin.listen();
    if (listening.kind === 'failed') throw new Error(listening.detail);
    address = `127.0.0.1:${listening.address.port}`;
  });
  afterAll(() => admin.close());

  /** `reader`: a command of the shell behind the pipe. */
  async function piped(command: string, reader: string) {
    const env = { PATH: process.env['PATH'], POINTSMAN_ADMIN_TOKEN: TOKEN, ADMIN: address };
    const line = `set -o pipefail; "$0" "$1" ${command} | ${reader}; echo "exit $?" >&2`;
    const child = spawn('bash', ['-c', line, process.execPath, MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
    await new Promise((resolve) => void child.once('close', resolve));
    return { out, err };
  }

  // A pipe has room for 64 KiB. The first bytes are read one by one, so the rest has to wait.
  const SLOW = '(dd bs=1 count=20000 status=none; cat)';

  test.each([
    ['config schema', 80_000],
    ['sessions --json --limit 1000 --admin "$ADMIN"', 400_000],
    ['sessions --limit 1000 --admin "$ADMIN"', 66_000],
  ])('%s is whole in a slow pipe', async (command, least) => {
    const [{ out, err }, whole] = await Promise.all([piped(command, SLOW), piped(command, 'cat')]);
    expect(err).toBe('exit 0\n');
    expect(out.length).toBeGreaterThan(least);
    expect(out.length).toBe(whole.out.length);
  });

  test.each(['config schema', 'sessions --json --limit 1000 --admin "$ADMIN"'])(
    '%s: a reader that has enough ends nothing but the output',
    async (command) => {
      const { out, err } = await piped(command, 'head -n 1');
      expect([out, err]).toEqual(['{\n', 'exit 0\n']);
    },
  );

  test('output that cannot be written is a failure', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN, 'version'], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    let err = '';
    child.stderr?.on('data', (chunk: Buffer) => void (err += chunk.toString()));
    const code = await new Promise((resolve) => void child.once('close', resolve));
    expect([code, err]).toEqual([1, expect.stringMatching(/^pointsman: the output could not be written: ENOSPC.*\n$/)]);
  });

  test('standard error without a reader: the exit code is the same', async () => {
    const { err } = await piped('nosuch 2> >(exit 0)', 'cat');
    expect(err).toBe('exit 2\n');
  });
});
