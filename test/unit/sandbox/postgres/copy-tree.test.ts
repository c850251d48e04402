import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyTree } from '../../../../src/sandbox/postgres/copy-tree.ts';

async function tree(): Promise<{ source: string; target: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const source = join(directory, 'source');
  await mkdir(join(source, 'base', '1'), { recursive: true });
  await writeFile(join(source, 'base', '1', '1259'), 'pages', { mode: 0o600 });
  await writeFile(join(source, 'PG_VERSION'), '18');
  return { source, target: join(directory, 'target') };
}

test('files, directories and modes', async () => {
  const { source, target } = await tree();
  await copyTree(source, target, { owner: undefined });
  expect(await readFile(join(target, 'base', '1', '1259'), 'utf8')).toBe('pages');
  expect((await stat(join(target, 'base', '1', '1259'))).mode & 0o777).toBe(0o600);
  expect((await stat(target)).mode & 0o777).toBe(0o700);
});

test('skipped entries are not created', async () => {
  const { source, target } = await tree();
  await copyTree(source, target, { owner: undefined, isSkipped: (path) => path === join('base', '1') });
  expect(existsSync(join(target, 'base'))).toBe(true);
  expect(existsSync(join(target, 'base', '1'))).toBe(false);
});

test('a file that vanishes during the copy counts as absent', async () => {
  const { source, target } = await tree();
  // The listing had the file; it was gone before its copy.
  const isSkipped = (path: string): boolean => {
    if (path === 'PG_VERSION') rmSync(join(source, path));
    if (path === join('base', '1')) rmSync(join(source, path), { recursive: true });
    return false;
  };
  await copyTree(source, target, { owner: undefined, isSkipped });
  expect(existsSync(join(target, 'PG_VERSION'))).toBe(false);
  expect(readdirSync(join(target, 'base', '1'))).toEqual([]);
});

test('ends on request', async () => {
  const { source, target } = await tree();
  const signal = AbortSignal.abort(new Error('killed'));
  await expect(copyTree(source, target, { owner: undefined, signal })).rejects.toThrow('killed');
});
