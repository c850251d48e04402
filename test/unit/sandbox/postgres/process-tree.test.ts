import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { freezeTree, killTree, thawTree } from '../../../../src/sandbox/postgres/process-tree.ts';
import { commandLine, descendants, listProcesses } from '../../../../src/sandbox/postgres/processes.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';

/** A process with two children; one child has its own session and a child, like backends. */
async function tree(): Promise<{ root: number; all: readonly number[] }> {
  const program = "sleep 600 & setsid sh -c 'sleep 600; exit' & wait";
  const child = spawn('sh', ['-c', program], { stdio: 'ignore' });
  const root = child.pid ?? 0;
  const below = await waitUntil(
    'three below it',
    async () => {
      const found = descendants(root, await listProcesses());
      // A shell waits for the exec of its child, and is not stopped before: a frozen child would never get there.
      const lines = await Promise.all(found.map((pid) => commandLine(pid)));
      return found.length === 3 && lines.filter((line) => line.startsWith('sleep')).length === 2 && found;
    },
    { timeoutMs: 5_000 },
  );
  onTestFinished(() => killTree(root, below));
  return { root, all: [root, ...below] };
}

async function stopped(pids: readonly number[]): Promise<readonly boolean[]> {
  return (await listProcesses()).filter(({ pid }) => pids.includes(pid)).map(({ isStopped }) => isStopped);
}

test('every process below is frozen and thawed', async () => {
  const { root, all } = await tree();
  await freezeTree(root);
  await waitUntil('all frozen', async () => (await stopped(all)).every(Boolean), { timeoutMs: 15_000 });
  await thawTree(root);
  await waitUntil('all thawed', async () => !(await stopped(all)).some(Boolean), { timeoutMs: 15_000 });
  expect(await stopped(all)).toHaveLength(4);
});

test('every process below is killed, frozen or not', async () => {
  for (const isFrozen of [false, true]) {
    const { root, all } = await tree();
    if (isFrozen) await freezeTree(root);
    await killTree(root);
    expect(await stopped(all)).toEqual([]);
    // A second call finds no process, and that is no error.
    await killTree(root);
  }
});
