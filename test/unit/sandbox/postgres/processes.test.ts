import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  commandLine,
  descendants,
  listProcesses,
  parsePs,
  parseStat,
} from '../../../../src/sandbox/postgres/processes.ts';
import type { ProcessEntry } from '../../../../src/sandbox/postgres/processes.ts';
import { itUnless } from '../../../support/runner/unless-missing.ts';

const of = (pid: number, parent: number): ProcessEntry => ({ pid, parent, isStopped: false });

test('/proc: the name may contain any character, a zombie counts as gone', () => {
  expect(parseStat(7, '7 (postgres) S 3 7 7 0')).toEqual({ pid: 7, parent: 3, isStopped: false });
  expect(parseStat(7, '7 (a) T 9 (b)) T 3 7 7 0')).toEqual({ pid: 7, parent: 3, isStopped: true });
  expect(parseStat(7, '7 (postgres) Z 1 7 7 0')).toBeUndefined();
  expect(parseStat(7, '')).toBeUndefined();
});

test('ps, on systems without /proc', () => {
  const output = '    1     0 Ss\n  501     1 T+\n  502   501 Z\n\n';
  expect(parsePs(output)).toEqual([
    { pid: 1, parent: 0, isStopped: false },
    { pid: 501, parent: 1, isStopped: true },
  ]);
});

test('descendants in any order', () => {
  expect(descendants(10, [of(12, 11), of(11, 10), of(20, 1), of(13, 12), of(14, 10)])).toEqual([11, 14, 12, 13]);
  expect(descendants(99, [of(12, 11)])).toEqual([]);
});

async function findsItself(os: string): Promise<void> {
  expect(await listProcesses(os)).toContainEqual({ pid: process.pid, parent: process.ppid, isStopped: false });
  expect(await commandLine(process.pid, os)).toContain('node');
}

const WHAT = 'this process is among all, with its parent and command line';
const whyNoProc = existsSync('/proc/self/stat') ? undefined : '/proc, which Linux has';
const whyNoPs = spawnSync('ps').error === undefined ? undefined : 'ps: apt-get install procps';

itUnless(whyNoProc, `/proc: ${WHAT}`, () => findsItself('linux'));
itUnless(whyNoPs, `ps: ${WHAT}`, () => findsItself('darwin'));
