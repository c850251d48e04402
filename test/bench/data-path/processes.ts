// Facts about processes from /proc: their descendants, their processor time, and their memory.
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const SETTLED_KB = 64;
const LOOK_EVERY_MS = 500;
const LOOKS = 30;

/** The process and all its descendants. */
export function familyOf(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (/^\d+$/.test(entry)) parents.set(Number(entry), parentOf(Number(entry)));
  }
  const family = new Set([pid]);
  for (let before = 0; before < family.size;) {
    before = family.size;
    for (const [child, parent] of parents) if (family.has(parent)) family.add(child);
  }
  return [...family];
}

/** The ids of all their threads. */
export function threadsOf(pids: readonly number[]): readonly number[] {
  return pids.flatMap((pid) => entries(`/proc/${pid}/task`).map(Number));
}

/** Microseconds of all their threads, from schedstat: utime + stime are rounded to ticks. */
export function processorUs(pids: readonly number[]): number {
  const paths = pids.flatMap((pid) =>
    entries(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/schedstat`),
  );
  return paths.reduce((sum, path) => sum + Number(read(path).split(' ')[0] ?? 0) / 1000, 0);
}

/** The resident memory of all of them in kB. */
export function residentKb(pids: readonly number[]): number {
  const sizes = pids.map((pid) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The resident memory when it is stable: three samples within 1 s that hardly differ, or the last one after 15 s. */
export async function settledKb(pids: readonly number[]): Promise<number> {
  const seen = [residentKb(pids)];
  for (let look = 0; look < LOOKS; look += 1) {
    await delay(LOOK_EVERY_MS);
    seen.push(residentKb(pids));
    const last = seen.slice(-3);
    if (last.length === 3 && Math.max(...last) - Math.min(...last) < SETTLED_KB) break;
  }
  return seen.at(-1) ?? 0;
}

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** The file's text; empty when the process or the thread has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function entries(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
