// What /proc says of processes: who descends from whom.
import { readFileSync, readdirSync } from 'node:fs';

/** The process and everything that it started, and they. */
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

function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** Empty when the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
