// The largest number of sessions of one proxy on this machine: each session needs two open files.
import { readFileSync } from 'node:fs';

/** Files that belong to no session. HAProxy reaches its limit, 9900 sessions, with more than a hundred files left. */
const OTHER_FILES = 260;

export function largestOpen(others: number): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1];
  const most = hard === 'unlimited' ? Infinity : Number(hard);
  return Math.floor((most - OTHER_FILES) / 2) - others;
}
