// The code that an idle proxy has loaded is most of its memory: few files of the build, and none of Node's modules that
// take megabytes. Those are loaded when they are needed.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { flagsOf } from '../../bench/data-path/peers/pointsman-build.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { MAIN } from '../../support/processes/program.ts';

const run = promisify(execFile);

/** Writes at the end what the process has loaded. */
const NOTES_LOADED = `data:text/javascript,${encodeURIComponent(`
  const files = [];
  process.getBuiltinModule('node:module').registerHooks({
    load(url, context, next) {
      files.push(url);
      return next(url, context);
    },
  });
  process.once('exit', () => {
    const loaded = { files, modules: process.moduleLoadList };
    process.getBuiltinModule('node:fs').writeFileSync(process.env.LOADED, JSON.stringify(loaded));
  });
`)}`;

const written = z.object({ files: z.array(z.string()), modules: z.array(z.string()) });

/** More of them, and V8 optimizes the code that resolves their paths: 5 MB for the pages of its optimizing compiler. */
const MOST_FILES = 10;

const LARGE = ['crypto', 'http2', 'https', 'inspector', 'internal/deps/undici/undici', 'tls', 'worker_threads'].map(
  (name) => `NativeModule ${name}`,
);

/** For what is not configured, and for commands. */
const LATE = /sandbox|console-server|control-branches|openapi|session-mover|mover|directory|document|commands/;

test('an idle proxy has loaded what it needs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-loaded-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const member = await FakeMember.start('pg-1', { role: 'primary' });
  onTestFinished(() => member.stop());
  member.set({ cluster: { scope: 'demo', members: [member.entry()] } });
  const file = join(directory, 'loaded.json');
  const pointsman = await startPointsman(
    {
      cluster: { seeds: [member.url] },
      listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
      admin: { address: '127.0.0.1:0' },
      log: { format: 'json' },
    },
    { NODE_OPTIONS: `--import=${NOTES_LOADED}`, LOADED: file, NODE_DEBUG_NATIVE: 'CODE_CACHE' },
  );
  onTestFinished(() => pointsman.stop());
  await pointsman.waitUntilReady();
  pointsman.signal('SIGTERM');
  expect(await pointsman.exited()).toBe(0);
  const { files, modules } = written.parse(JSON.parse(readFileSync(file, 'utf8')));
  const names = files.filter((url) => url.startsWith('file:')).map((url) => basename(url));
  expect(names).toContain('main.js');
  expect(names.length, names.join(' ')).toBeLessThanOrEqual(MOST_FILES);
  expect(names.filter((name) => LATE.test(name))).toEqual([]);
  expect(modules).toContain('NativeModule http');
  expect(modules.filter((name) => LARGE.includes(name))).toEqual([]);
  expectAsCompiled(pointsman.stderr.join(''), 'cluster');
});

test('with the options of the first line, Node takes its own modules as they are compiled in its program', async () => {
  const env = { NODE_DEBUG_NATIVE: 'CODE_CACHE' };
  const { stdout, stderr } = await run(process.execPath, [...flagsOf(MAIN), MAIN, 'version'], { env });
  expectAsCompiled(`${stdout}${stderr}`, 'net');
});

test('the build has made the schema of the file, the same as that of the sources', async () => {
  const { stdout } = await run(process.execPath, [MAIN, 'config', 'schema']);
  expect(stdout).toBe(readFileSync('config/pointsman.schema.json', 'utf8'));
  const files = readdirSync(dirname(MAIN)).filter((name) => name.startsWith('start-') && name.endsWith('.js'));
  const makers = files.filter((name) => /= toJSONSchema\(/.test(readFileSync(join(dirname(MAIN), name), 'utf8')));
  expect(makers).toEqual([]);
});

/** `name`: a module that was loaded. */
function expectAsCompiled(output: string, name: string): void {
  const told = [...output.matchAll(/Code cache of (\S+) .*is (accepted|rejected)/g)];
  expect(told.map(([, module]) => module)).toContain(name);
  expect(told.filter(([, , how]) => how === 'rejected').map(([, module]) => module)).toEqual([]);
}
