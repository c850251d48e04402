// How many sessions one proxy can have on this machine: each takes two of the files that a process may have open.
import { readFileSync } from 'node:fs';

/** For what is no session's: HAProxy's bound, 9900 sessions, is reached with some more than a hundred left. */
const OTHER_FILES = 260;

export function largestOpen(others: number): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1];
  const most = hard === 'unlimited' ? Infinity : Number(hard);
  return Math.floor((most - OTHER_FILES) / 2) - others;
}
