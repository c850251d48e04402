// Signals to a postmaster and all processes below it. Its backends lead sessions of their own, so a signal to a process
// group would not reach them. The postmaster is stopped before its children are listed, so that it cannot fork another
// one.
import { kill } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { descendants, listProcesses } from './processes.ts';
import { errorCode } from '../../model/errno.ts';

const POLL_MS = 5;
const STOP_WITHIN_MS = 2_000;
const GONE_WITHIN_MS = 10_000;

/** SIGKILL; resolves when all are gone. `besides` are other processes of the server that lost their parent. */
export async function killTree(root: number, besides: readonly number[] = []): Promise<void> {
  // The postmaster last: otherwise its children would tell their clients of its death, and a dead host does not do
  // that.
  await killAll([...(await haltAndCount(root)), ...besides, root]);
}

export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) send(pid, 'SIGKILL');
  await untilGone(pids);
}

export async function freezeTree(root: number): Promise<void> {
  for (const pid of await haltAndCount(root)) send(pid, 'SIGSTOP');
}

export async function thawTree(root: number): Promise<void> {
  const below = descendants(root, await listProcesses());
  // The postmaster last: it then finds its children running, and does nothing about them.
  for (const pid of [...below.toReversed(), root]) send(pid, 'SIGCONT');
}

/** A process that has already ended is no error. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

async function haltAndCount(root: number): Promise<readonly number[]> {
  send(root, 'SIGSTOP');
  const deadline = performance.now() + STOP_WITHIN_MS;
  for (;;) {
    const processes = await listProcesses();
    const isHalted = processes.find(({ pid }) => pid === root)?.isStopped ?? true;
    if (isHalted || performance.now() > deadline) return descendants(root, processes);
    await delay(POLL_MS);
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  if (pids.length === 0) return;
  const deadline = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const left = (await listProcesses()).filter(({ pid }) => pids.includes(pid));
    if (left.length === 0) return;
    if (performance.now() > deadline) throw new Error(`killed but not gone: ${left.map(({ pid }) => pid).join(', ')}`);
    await delay(POLL_MS);
  }
}
