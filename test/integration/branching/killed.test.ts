// kill -9 of `pointsman branches create` at every step. The same command again leaves exactly one timeline.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBranchControl } from '../../../src/branching/control-branches.ts';
import { readNames } from '../../../src/branches/names-file.ts';
import { startFakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import type { Quirks } from '../../support/branches/quirks.ts';
import { Command } from '../../support/processes/command.ts';
import { EagerClock } from '../../support/waiting/eager-clock.ts';

/** Dozens of processes, on a machine that may be busy. */
const LONG = { timeout: 600_000 };
const PRELOAD = join(import.meta.dirname, '../../support/branches/kill-at-step.ts');

let folder: string;
let namesFile: string;
let node: FakeStorageNode;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-killed-'));
  await start(0);
});
afterEach(async () => {
  await node.stop();
  await rm(folder, { recursive: true });
});

/** A node of its own for each run. */
async function start(run: number, quirks: Partial<Quirks> = {}): Promise<void> {
  node = await startFakeStorageNode(quirks);
  namesFile = join(folder, `names-${run}.json`);
  const storage = { url: node.url, tenant: node.tenant, names_file: namesFile, pg_version: 17 };
  const branches = { source: 'storage', storage, backends: { template: '{id}.example:5432' } };
  await writeFile(
    join(folder, 'config.yaml'),
    JSON.stringify({ cluster: { seeds: ['http://127.0.0.1:8008'] }, branches }),
  );
}

function create(env: NodeJS.ProcessEnv = {}): Command {
  return new Command(['branches', 'create', 'pr-1', '-c', join(folder, 'config.yaml')], env);
}

/** The command again, in this process, because it is quick. */
async function expectOneAfterAnotherRun(what: string): Promise<void> {
  // Nothing that a kill leaves is unreadable for the daemon.
  await readNames(namesFile, node.tenant);
  const { url, tenant } = node;
  const control = createBranchControl(
    { kind: 'storage', url, tenant, namesFile, pgVersion: 17, headersFile: undefined },
    { clock: new EagerClock(), random: () => 0 },
  );
  expect(await control.create({ name: 'pr-1', waitMs: 60_000 }), what).toMatchObject({ kind: 'created' });
  const names = await readNames(namesFile, tenant);
  expect(names, what).toMatchObject([{ name: 'pr-1', isPending: false }]);
  expect([...node.timelines.keys()], what).toEqual([node.root, names[0]?.id]);
  const posts = node.requests.filter(({ method }) => method === 'POST');
  expect(new Set(posts.map(({ body }) => body)).size, what).toBe(1);
  expect(node.violations, what).toEqual([]);
}

async function again(run: number, quirks: Partial<Quirks> = {}): Promise<void> {
  await node.stop();
  await start(run, quirks);
}

test('three commands at once make one timeline: the lock holds between processes', LONG, async () => {
  await again(0, { whileCreating: [503] });
  const commands = [create(), create(), create()];
  for (const command of commands) expect(await command.code, command.output).toBe(0);
  await expectOneAfterAnotherRun('three at once');
});

test('at each step of the names file and its lock', LONG, async () => {
  const report = join(folder, 'steps.json');
  const env = { NODE_OPTIONS: `--import ${PRELOAD}` };
  const whole = create({ ...env, KILL_FILE: namesFile, KILL_REPORT: report });
  expect(await whole.code, whole.output).toBe(0);
  const steps: readonly string[] = JSON.parse(await readFile(report, 'utf8'));
  // The lock, the intent and the result: each file is written, synced and renamed, and its folder synced.
  expect(steps.filter((step) => step === 'after rename')).toHaveLength(2);
  expect(steps.filter((step) => step === 'after sync')).toHaveLength(4);
  for (const [index, step] of steps.entries()) {
    await again(index + 1);
    const killed = create({ ...env, KILL_FILE: namesFile, KILL_AT: String(index + 1) });
    expect(await killed.code, `${step}: ${killed.output}`).toBe('SIGKILL');
    await expectOneAfterAnotherRun(`${index + 1}, ${step}`);
  }
});

test('before and after the node acts on each request', LONG, async () => {
  const quirks = { whileCreating: [503] };
  await again(0, quirks);
  const whole = create();
  expect(await whole.code, whole.output).toBe(0);
  const requests = node.requests.length;
  expect(requests).toBeGreaterThanOrEqual(4);
  for (let run = 1; run <= 2 * requests; run += 1) {
    await again(run, quirks);
    const at = Math.ceil(run / 2);
    const acts = run % 2 === 0;
    node.script = () => {
      if (node.requests.length !== at) return undefined;
      void killed.stop();
      return acts ? undefined : 'lost';
    };
    const killed = create();
    expect(await killed.code, killed.output).toBe('SIGKILL');
    node.script = () => undefined;
    await expectOneAfterAnotherRun(`request ${at}, ${acts ? 'after' : 'before'} the node acted`);
  }
});
