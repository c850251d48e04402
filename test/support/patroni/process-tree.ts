// Reads /proc for the descendants of a process, and freezes or thaws such a tree. Signals go to process ids that
// descend from a process that we started, never to a name.
import { readdir, readFile } from 'node:fs/promises';
import { waitUntil } from '../waiting/wait.ts';

type ProcessStat = { readonly pid: number; readonly parent: number; readonly state: string };

async function readStat(pid: number): Promise<ProcessStat | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The command's name stands in parentheses and may contain anything.
    const [state, parent] = text
      .slice(text.lastIndexOf(')') + 1)
      .trim()
      .split(' ');
    return { pid, parent: Number(parent), state: state ?? '?' };
  } catch {
    return undefined;
  }
}

/** The process and everything below it, parents first. */
export async function processTree(root: number): Promise<ProcessStat[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const stats = (await Promise.all(pids.map(readStat))).filter((stat) => stat !== undefined);
  const tree = stats.filter((stat) => stat.pid === root);
  for (const found of tree) tree.push(...stats.filter((stat) => stat.parent === found.pid));
  return tree;
}

export async function commandLine(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.replaceAll('\0', ' ').trim();
}

export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readStat(pid);
  return stat?.state === 'T';
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

export async function freezeProcess(pid: number): Promise<void> {
  sendSignal(pid, 'SIGSTOP');
  await waitUntil(`process ${pid} stopped`, () => isStopped(pid), { timeoutMs: 15_000, everyMs: 2 });
}

/** The parent first: it starts no new process while its children are being stopped. */
export async function freezeTree(root: number): Promise<void> {
  await waitUntil(
    `process ${root} and its tree stopped`,
    async () => {
      const running = (await processTree(root)).filter((stat) => stat.state !== 'T' && stat.state !== 'Z');
      for (const stat of running) sendSignal(stat.pid, 'SIGSTOP');
      return running.length === 0;
    },
    { timeoutMs: 15_000, everyMs: 2 },
  );
}

/** Children first; `except` stays as it is. */
export async function thawTree(root: number, except?: number): Promise<void> {
  for (const stat of (await processTree(root)).toReversed()) {
    if (stat.pid !== except) sendSignal(stat.pid, 'SIGCONT');
  }
}
