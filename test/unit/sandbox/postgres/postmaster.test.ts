import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { logSince, logSize, startFailure } from '../../../../src/sandbox/postgres/postmaster.ts';

test('only a server that ended for lack of parameters is reported so', () => {
  const log = 'FATAL:  recovery aborted because of insufficient parameter settings';
  expect(startFailure('exited', log)).toEqual({ kind: 'failed', reason: 'insufficient_parameters', log });
  // A running standby only pauses, with the same words in its warning.
  expect(startFailure('timeout', log)).toMatchObject({ reason: 'timeout' });
  expect(startFailure('exited', 'FATAL:  something else')).toMatchObject({ reason: 'exited' });
});

test('the last lines of the log since the start', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'log');
  expect(await logSize(file)).toBe(0);
  expect(await logSince(file, 0)).toBe('');
  const lines = Array.from({ length: 1_000 }, (_, at) => `line ${at}`);
  await writeFile(file, `earlier\n${lines.join('\n')}\n`);
  expect((await logSince(file, 0)).split('\n').at(-1)).toBe('line 999');
  expect((await logSince(file, 0)).split('\n').length).toBeLessThanOrEqual(20);
  await writeFile(file, 'earlier life\nthis life\n');
  expect(await logSince(file, 'earlier life\n'.length)).toBe('this life');
});
