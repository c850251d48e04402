// `pointsman cluster config edit` with a real editor: a script. Edited text that was not applied is never lost.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clusterCli } from '../../../support/fakes/cluster-cli.ts';
import type { Terminal } from '../../../support/fakes/cluster-cli.ts';
import { fakeCluster } from '../../../support/fakes/fake-cluster.ts';
import type { FakeCluster } from '../../../support/fakes/fake-cluster.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-edit-test-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** The editor runs this shell script; `$1` is the file. */
async function edit(script: string, cluster: FakeCluster, terminal: Terminal = {}, options: readonly string[] = []) {
  const editor = join(directory, 'editor.sh');
  await writeFile(editor, `set -e\n${script}\n`);
  const env = { EDITOR: `sh ${editor}`, ...terminal.env };
  const ran = await clusterCli(['config', 'edit', ...options], cluster, { ...terminal, env });
  const [, kept] = /kept in (\S+)/.exec(ran.err) ?? [];
  if (kept === undefined) return { ...ran, kept };
  const text = await readFile(kept, 'utf8');
  await rm(dirname(kept), { recursive: true });
  return { ...ran, kept: text };
}

test('sends what changed, after the difference and a question; the file is removed', async () => {
  const cluster = fakeCluster();
  const script = `cp "$1" ${directory}/seen
    echo "$1" > ${directory}/name
    sed -i 's/^ttl: 30/ttl: 40/; /loop_wait/d' "$1"`;
  const { code, out, asked, kept } = await edit(script, cluster, { answers: ['y'] });
  expect(out).toContain('  -ttl: 30\n  -loop_wait: 10\n  +ttl: 40\n');
  expect(asked).toEqual(['Apply this change? [y/N] ']);
  expect(cluster.performed).toEqual([{ kind: 'patch_config', changes: { loop_wait: null, ttl: 40 } }]);
  expect([code, kept]).toEqual([0, undefined]);
  const seen = await readFile(join(directory, 'seen'), 'utf8');
  expect(seen).toMatch(/^# Dynamic configuration of lab, read from http:\/\/10\.0\.0\.1:8008\.\n(?:#.*\n)+ttl: 30\n/);
  const name = (await readFile(join(directory, 'name'), 'utf8')).trim();
  expect(existsSync(dirname(name))).toBe(false);
});

test('a number for a parameter of PostgreSQL is sent as a text', async () => {
  const cluster = fakeCluster();
  await edit(`sed -i 's/work_mem: 4MB/work_mem: 4096/' "$1"`, cluster, {}, ['--yes']);
  expect(cluster.performed).toEqual([
    { kind: 'patch_config', changes: { postgresql: { parameters: { work_mem: '4096' } } } },
  ]);
});

test('no change: nothing is sent', async () => {
  const cluster = fakeCluster();
  const { code, out, kept } = await edit('true', cluster);
  expect([code, out, kept]).toEqual([0, 'no change: the configuration already has these values\n', undefined]);
  expect(cluster.performed).toEqual([]);
});

test('VISUAL has precedence over EDITOR, and may have options', async () => {
  const cluster = fakeCluster();
  await edit('false', cluster, { env: { VISUAL: "sed -i 's/ttl: 30/ttl: 31/'" } }, ['--yes']);
  expect(cluster.performed).toEqual([{ kind: 'patch_config', changes: { ttl: 31 } }]);
});

test('declined: the edited file is kept, and named', async () => {
  const cluster = fakeCluster();
  const { code, kept } = await edit(`sed -i 's/ttl: 30/ttl: 40/' "$1"`, cluster, { answers: ['n'] });
  expect([code, kept, cluster.performed]).toEqual([1, expect.stringContaining('ttl: 40'), []]);
});

test('another party changed the configuration meanwhile: nothing is sent, and the edited file is kept', async () => {
  const cluster = fakeCluster();
  const answer = (): string => {
    cluster.config_ = { ...cluster.config_, loop_wait: 5 };
    return 'y';
  };
  const { code, err, kept } = await edit(`sed -i 's/ttl: 30/ttl: 40/' "$1"`, cluster, { answers: [answer] });
  expect(err).toContain('changed by another party meanwhile, so nothing was sent. Their change:');
  expect([code, kept, cluster.performed]).toEqual([1, expect.stringContaining('ttl: 40'), []]);
});

test('a failed change: the edited file is kept', async () => {
  const cluster = fakeCluster();
  cluster.answer = () => ({ kind: 'invalid', status: 400, text: 'pg-1 rejected it.', reason: '' });
  const { code, err, kept } = await edit(`sed -i 's/ttl: 30/ttl: 90/' "$1"`, cluster, {}, ['--yes']);
  expect(err).toContain('pointsman: pg-1 rejected it.\n');
  expect([code, kept]).toEqual([1, expect.stringContaining('ttl: 90')]);
});

test('text that is no YAML: the place, and a second try', async () => {
  const cluster = fakeCluster();
  const script = `if [ -e ${directory}/again ]
    then sed -i 's/ttl: .*/ttl: 40/' "$1"
    else touch ${directory}/again; sed -i 's/ttl: 30/ttl: [/' "$1"
  fi`;
  const { code, err, asked } = await edit(script, cluster, { answers: ['', 'y'] });
  expect(err).toMatch(/^pointsman: the edited configuration: \d+:\d+: /m);
  expect(asked).toEqual(['Edit it again? [Y/n] ', 'Apply this change? [y/N] ']);
  expect([code, cluster.performed]).toEqual([0, [{ kind: 'patch_config', changes: { ttl: 40 } }]]);
});

test.each([
  ['no YAML, and no second try', `sed -i 's/ttl: 30/ttl: [/' "$1"`, 'nothing was changed'],
  ['emptied', `: > "$1"`, 'the edited configuration: it is empty'],
  ['an editor that fails', 'exit 3', 'ended with exit code 3: nothing was changed'],
])('%s: exit code 1, the file is kept, and nothing is sent', async (_, script, why) => {
  const cluster = fakeCluster();
  const { code, err, kept } = await edit(script, cluster, { answers: ['n'] });
  expect([code, err, cluster.performed]).toEqual([1, expect.stringContaining(why), []]);
  expect(kept).toBeDefined();
});

test('without a terminal and without an editor: exit code 2', async () => {
  const { code, err } = await clusterCli(['config', 'edit'], fakeCluster());
  expect([code, err]).toEqual([2, 'pointsman: this is no terminal: set EDITOR or VISUAL, or use `config set`\n']);
});
