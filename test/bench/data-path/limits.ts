// The largest number of sessions of one proxy on this machine: each session needs two open files.
import { readFileSync } from 'node:fs';
import { descriptorBudget } from '../../../src/proxy/accept/descriptor-limit.ts';

/** Pointsman has about 25 files open before it listens. */
const FILES_OF_ITS_OWN = 40;

/** `others`: sessions beside them. Pointsman keeps the largest reserve, so the other proxies have room for as many. */
export function largestOpen(others: number): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1];
  const limit = hard === 'unlimited' ? Infinity : Number(hard);
  return descriptorBudget({ limit, inUse: FILES_OF_ITS_OWN }).sessions - others;
}
