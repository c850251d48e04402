// Lists processes with their parents: from /proc on Linux, from ps elsewhere. A zombie counts as gone, because process
// 1 of a container may never collect orphans.
import { readFile, readdir, readlink, realpath } from 'node:fs/promises';
import { platform } from 'node:process';
import { run } from './run-as.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Stopped by SIGSTOP. */
  readonly isStopped: boolean;
}

const PROGRAMS: readonly string[] = ['postgres', 'initdb', 'pg_ctl'];

export async function listProcesses(os: string = platform): Promise<readonly ProcessEntry[]> {
  if (os !== 'linux') return parsePs((await run({ user: undefined, directory: '/' }, 'ps', PS_ARGS)).output);
  const entries = await Promise.all((await allPids()).map((pid) => readStat(pid)));
  return entries.filter((entry) => entry !== undefined);
}

const PS_ARGS = ['-A', '-o', 'pid=,ppid=,stat='];

export function parsePs(output: string): readonly ProcessEntry[] {
  return output.split('\n').flatMap((line) => {
    const [pid, parent, state = ''] = line.trim().split(/\s+/);
    return entry(Number(pid), Number(parent), state) ?? [];
  });
}

/** The name is in parentheses and may contain any character. */
export function parseStat(pid: number, text: string): ProcessEntry | undefined {
  const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return entry(pid, Number(parent), state);
}

function entry(pid: number, parent: number, state: string): ProcessEntry | undefined {
  const isGone = !(pid > 0) || state === '' || /^[ZX]/.test(state);
  return isGone ? undefined : { pid, parent, isStopped: /^[Tt]/.test(state) };
}

/** All descendants of the root, without the root. */
export function descendants(root: number, processes: readonly ProcessEntry[]): readonly number[] {
  const found = [root];
  for (const pid of found) found.push(...processes.filter(({ parent }) => parent === pid).map((child) => child.pid));
  return found.slice(1);
}

/**
 * PostgreSQL's programs whose working directory is `directory` or below it, including those that lost their parent.
 * Empty where there is no /proc.
 */
export async function postgresProcessesIn(directory: string): Promise<readonly number[]> {
  if (platform !== 'linux') return [];
  const real = await realpath(directory).catch(() => directory);
  const found = await Promise.all((await allPids()).map(async (pid) => ((await worksIn(pid, real)) ? [pid] : [])));
  const alive = new Set((await listProcesses()).map(({ pid }) => pid));
  return found.flat().filter((pid) => alive.has(pid));
}

async function worksIn(pid: number, directory: string): Promise<boolean> {
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  if (cwd !== directory && !cwd.startsWith(`${directory}/`) && cwd !== `${directory} (deleted)`) return false;
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return PROGRAMS.includes(name.trim());
}

/** Its command line, joined by spaces; empty when the process is gone. */
export async function commandLine(pid: number, os: string = platform): Promise<string> {
  if (os === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return text.replaceAll('\0', ' ').trim();
  }
  return (await run({ user: undefined, directory: '/' }, 'ps', ['-p', String(pid), '-o', 'command='])).output;
}

async function allPids(): Promise<readonly number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

async function readStat(pid: number): Promise<ProcessEntry | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : parseStat(pid, text);
}
