// The npm package as a user gets it: packed, installed into an empty directory with its dependencies alone, started,
// and embedded in a program that a compiler has checked.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { echoSession } from '../../support/sockets/echo-session.ts';
import { until } from '../../support/waiting/until.ts';

const run = promisify(execFile);
const TOP = new URL('../../../', import.meta.url).pathname;
const BIN = join(TOP, 'node_modules', '.bin');
/** npm and its children run on the Node of the tests. */
const ENV = {
  // The settings of this test run are none of Pointsman's.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POINTSMAN_'))),
  PATH: `${dirname(process.execPath)}:${BIN}:${process.env['PATH']}`,
};
/** The arguments of npx: only installed programs. */
const POINTSMAN = ['--no-install', 'pointsman'];
const LONG_MS = 180_000;

const listenerOf = z.object({ address: z.string() });
const packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);

function whatIsMissing(): string | undefined {
  try {
    execFileSync('npm', ['view', 'fastest-levenshtein@1.0.16', 'version'], {
      env: ENV,
      timeout: 30_000,
      stdio: 'ignore',
    });
    return undefined;
  } catch {
    return 'npm, and the registry that it is configured for';
  }
}

/** The output of `npm run build` and `npm pack`, without a change of the repository's own dist/. */
async function pack(directory: string): Promise<{ readonly tarball: string; readonly files: readonly string[] }> {
  const tree = join(directory, 'package');
  await mkdir(tree);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'config', 'deploy', 'src']) {
    await cp(join(TOP, name), join(tree, name), { recursive: true });
  }
  await run(join(BIN, 'rolldown'), ['-c', 'rolldown.config.ts', '--dir', join(tree, 'dist')], { cwd: TOP, env: ENV });
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: tree, env: ENV });
  const [{ filename, files }] = packed.parse(JSON.parse(stdout));
  return { tarball: join(tree, filename), files: files.map(({ path }) => path) };
}

const EMBEDDING = `
import { createApp } from 'pointsman';
import type { App, Listening } from 'pointsman';

const created = createApp({
  config: {
    cluster: { discovery: 'static', members: [{ name: 'pg-1', api: process.argv[2], postgres: '127.0.0.1:5432' }] },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
  },
});
if (created.kind === 'invalid') throw new Error(created.problems.join('; '));
const app: App = created.app;
const started = await app.start();
if (started.kind === 'failed') throw new Error(started.why);
await app.ready();
const admin: Listening | undefined = started.listening.find(({ pool }) => pool === 'admin');
const response = await fetch(\`http://\${admin?.host}:\${admin?.port}/readyz\`);
console.log(started.listening.map(({ pool }) => pool).join(' '), response.status);
await app.stop();
`;

describeUnless(whatIsMissing(), 'the npm package', () => {
  let directory: string;
  let home: string;
  let files: readonly string[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-package-'));
    const made = await pack(directory);
    files = made.files;
    home = join(directory, 'home');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), '{ "private": true, "type": "module" }');
    const flags = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', ['install', ...flags, made.tarball], { cwd: home, env: ENV });
  }, LONG_MS);

  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  test('has the built files, the examples, the deployment files, and no others', () => {
    const tops = new Set(files.map((file) => file.split('/')[0]));
    expect(tops).toEqual(new Set(['LICENSE', 'README.md', 'config', 'deploy', 'dist', 'package.json']));
    expect(files).toEqual(expect.arrayContaining(['dist/main.js', 'dist/index.js', 'dist/index.d.ts']));
    const page = files.filter((file) => file.startsWith('dist/page/')).map((file) => file.replace(/-[\w-]{8}\./, '.'));
    const made = ['index.html', 'page.css', 'page.js'].map((file) => `dist/page/${file}`);
    expect(page.toSorted()).toEqual(made.flatMap((file) => [file, `${file}.gz`]));
    const programs = files.filter((file) => file.startsWith('dist/') && !file.startsWith('dist/page/'));
    expect(programs.filter((file) => !/\.(?:js|d\.ts|js\.map)$/.test(file))).toEqual([]);
  });

  test('npx pointsman: the version, and the faults of a configuration', async () => {
    const { stdout } = await run('npx', [...POINTSMAN, '--version'], { cwd: home, env: ENV });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    await writeFile(join(home, 'wrong.yaml'), 'cluster: { seed: x }\n');
    const wrong = run('npx', [...POINTSMAN, 'check', '-c', 'wrong.yaml'], { cwd: home, env: ENV });
    await expect(wrong).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean cluster.seeds?'),
    });
  });

  test('npx pointsman run: serves a cluster, and ends at SIGTERM', async () => {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.adopt(await FakeCluster.start(), (one) => one.stop());
    const config = {
      cluster: cluster.section(),
      listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
      admin: { address: '127.0.0.1:0' },
      shutdown: { grace: '0s', drain_timeout: '0s' },
      log: { format: 'json' },
    };
    await writeFile(join(home, 'pointsman.yaml'), stringify(config));
    // A separate process group: npx has a shell between itself and the program, and the shell passes no signal on.
    const npx = spawn('npx', [...POINTSMAN, 'run', '--config', 'pointsman.yaml'], {
      cwd: home,
      env: ENV,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { pid } = npx;
    if (pid === undefined) throw new Error('npx did not start');
    const said: string[] = [];
    createInterface({ input: npx.stdout }).on('line', (line) => said.push(line));
    const ended = new Promise((resolve) => npx.once('exit', resolve));
    try {
      // After the start the program handles signals itself.
      await until('a decision', () => said.some((line) => line.includes('"route_changed"')), 30_000);
      const listening = said.filter((line) => line.includes('"listening"'));
      expect(listening).toHaveLength(2);
      const { address } = listenerOf.parse(JSON.parse(listening.find((line) => line.includes('"admin"')) ?? '{}'));
      const { address: write } = listenerOf.parse(
        JSON.parse(listening.find((line) => line.includes('"write"')) ?? '{}'),
      );
      const [host = '', port] = write.split(':');
      const client = await echoSession({ host, port: Number(port) });
      client.socket.destroy();
      const page = await fetch(`http://${address}/`, { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('page/page-')]);
    } finally {
      process.kill(-pid, 'SIGTERM');
      await ended;
    }
    await until('its farewell', () => said.some((line) => line.includes('shutting down')), 10_000);
  }, 60_000);

  test('a program that embeds it: compiled, and run', async () => {
    await writeFile(join(home, 'embedding.ts'), EMBEDDING);
    // The package's types need no Node types; this program needs one declaration.
    await writeFile(join(home, 'node.d.ts'), 'declare const process: { argv: string[] };\n');
    const flags = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext'];
    await run(join(BIN, 'tsc'), [...flags, 'embedding.ts', 'node.d.ts'], { cwd: home, env: ENV });
    const { stdout } = await run(process.execPath, ['embedding.ts', await nobody()], { cwd: home, env: ENV });
    expect(stdout).toBe('write admin 200\n');
  }, 60_000);
});

async function nobody(): Promise<string> {
  const [address] = await freeAddresses(1);
  return `http://127.0.0.1:${address?.port}`;
}
