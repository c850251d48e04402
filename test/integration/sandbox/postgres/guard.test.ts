// A sandbox that is killed leaves nothing: its guard cleans up.
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startGuard } from '../../../../src/sandbox/postgres/guard.ts';
import { preparePostgres } from '../../../../src/sandbox/postgres/prepare.ts';
import { commandLine, listProcesses, postgresProcessesIn } from '../../../../src/sandbox/postgres/processes.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { sharedMemory, sharedMemoryOf } from '../../../support/sandbox/postgres.ts';

const HOLDER = fileURLToPath(new URL('../../../support/sandbox/hold-servers.ts', import.meta.url));

async function guardsOf(directory: string): Promise<readonly number[]> {
  const pids = (await listProcesses()).map(({ pid }) => pid);
  const lines = await Promise.all(pids.map(async (pid) => ({ pid, line: await commandLine(pid) })));
  return lines.filter(({ line }) => line.includes('guard-main') && line.endsWith(directory)).map(({ pid }) => pid);
}

async function firstLine({ stdout }: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  for await (const chunk of stdout) return String(chunk).trim();
  return '';
}

test(
  'SIGKILL of the process that owns the servers ends them all and removes the directory',
  { timeout: 60_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    const holder = spawn(process.execPath, [HOLDER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void holder.kill('SIGKILL'));
    expect(await firstLine(holder)).toBe('running');
    expect((await postgresProcessesIn(directory)).length).toBeGreaterThan(8);
    const memory = await Promise.all(
      ['node-1', 'node-2'].map((name) => sharedMemoryOf({ dataDirectory: join(directory, name, 'data') })),
    );
    expect(await sharedMemory()).toEqual(expect.arrayContaining(memory));
    const [guard, ...others] = await guardsOf(directory);
    expect(others).toEqual([]);
    // The signals of Ctrl-C and of a closed terminal go to every process.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(guard ?? 0, signal);
    holder.kill('SIGKILL');
    await waitUntil('nothing is left', async () => !existsSync(directory) && (await guardsOf(directory)).length === 0, {
      timeoutMs: 20_000,
    });
    expect(await postgresProcessesIn(directory)).toEqual([]);
    expect((await sharedMemory()).filter((id) => memory.includes(id))).toEqual([]);
  },
);

test('a guard that is notified of a clean end touches nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  const dismiss = startGuard(directory);
  await dismiss();
  await dismiss();
  expect(existsSync(directory)).toBe(true);
  expect(await guardsOf(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});

test('a directory with files in it is refused and left unchanged', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  await writeFile(join(directory, 'notes'), 'of somebody');
  await expect(preparePostgres({ directory, names: ['node-1'] })).rejects.toThrow('is not empty');
  expect(existsSync(join(directory, 'notes'))).toBe(true);
  await rm(directory, { recursive: true });
});
