// One life of a server's first process. It is our own child, so that we learn of its end, and in a session of its own,
// so that Ctrl-C at the terminal does not reach it before the sandbox has decided what to do.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { readPostmasterFile } from './postmaster-file.ts';
import { spawnOptions, type RunAs } from './run-as.ts';
import type { StartOutcome } from './server-types.ts';

const POLL_MS = 20;
const LOG_TAIL_BYTES = 8_192;
const LOG_TAIL_LINES = 20;

export interface Postmaster {
  readonly pid: number;
  hasExited(): boolean;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
}

export interface PostmasterPlan {
  /** The path of `postgres`. */
  readonly program: string;
  readonly args: readonly string[];
  readonly runAs: RunAs;
  readonly logFile: string;
}

/** A text gives the reason why the start could not be tried. */
export function spawnPostmaster(plan: PostmasterPlan): Postmaster | string {
  const log = openSync(plan.logFile, 'a');
  try {
    const options = { ...spawnOptions(plan.runAs), detached: true };
    const child = spawn(plan.program, [...plan.args], { ...options, stdio: ['ignore', log, log] });
    child.on('error', () => {});
    if (child.pid === undefined) return `${plan.program} cannot be run`;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return { pid: child.pid, exited, hasExited: () => child.exitCode !== null || child.signalCode !== null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    closeSync(log);
  }
}

/** Waits until the server reports in its postmaster.pid that it accepts connections, has ended, or the time is over. */
export async function untilReady(
  postmaster: Postmaster,
  dataDirectory: string,
  timeoutMs: number,
): Promise<'ready' | 'exited' | 'timeout'> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (postmaster.hasExited()) return 'exited';
    const file = await readPostmasterFile(dataDirectory);
    if (file?.pid === postmaster.pid && file.isReady) return 'ready';
    if (performance.now() > deadline) return 'timeout';
    await Promise.race([delay(POLL_MS), postmaster.exited]);
  }
}

/** `log` is the output of this life. The words are PostgreSQL's (RecoveryRequiresIntParameter). */
export function startFailure(end: 'exited' | 'timeout', log: string): StartOutcome {
  const isInsufficient = end === 'exited' && log.includes('insufficient parameter settings');
  return { kind: 'failed', reason: isInsufficient ? 'insufficient_parameters' : end, log };
}

export async function logSize(logFile: string): Promise<number> {
  return stat(logFile).then(
    ({ size }) => size,
    () => 0,
  );
}

/** The last lines from that offset on. */
export async function logSince(logFile: string, offset: number): Promise<string> {
  const from = Math.max(offset, (await logSize(logFile)) - LOG_TAIL_BYTES);
  const file = await open(logFile).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOG_TAIL_BYTES), 0, LOG_TAIL_BYTES, from);
    const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n');
    return lines.slice(-LOG_TAIL_LINES).join('\n');
  } finally {
    await file.close();
  }
}
