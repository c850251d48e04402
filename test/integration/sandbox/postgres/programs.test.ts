// Programs that cannot run in their place, and missing programs.
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { findBinaries } from '../../../../src/sandbox/postgres/binaries.ts';
import { preparePostgres } from '../../../../src/sandbox/postgres/prepare.ts';
import { ask, prepareServers, startAs } from '../../../support/sandbox/postgres.ts';

/** A copy of the embedded package's tree. */
async function copyOfPackage(keep: (path: string) => boolean): Promise<string> {
  const found = await findBinaries('embedded');
  if (found.kind === 'missing') throw new Error(found.why);
  const prefix = dirname(dirname(found.bin.postgres));
  const target = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(target, { recursive: true }));
  await cp(prefix, target, { recursive: true, verbatimSymlinks: true, filter: keep });
  return target;
}

test('installed without its links, which npm cannot store', { timeout: 60_000 }, async () => {
  const links = ['libicudata', 'libicui18n', 'libicuuc', 'libpq'].map((name) => `${name}.so`);
  const isLink = (path: string): boolean => links.some((link) => path.includes(link)) && !/\.\d+\.\d+$/.test(path);
  const prefix = await copyOfPackage((path) => !isLink(path));
  expect(existsSync(join(prefix, 'lib', 'libicuuc.so.60'))).toBe(false);
  await chmod(prefix, 0o755);
  const servers = await prepareServers(2, { binaries: join(prefix, 'bin') });
  await startAs(servers.server(0), undefined);
  await startAs(servers.server(1), servers.server(0));
  expect(await ask(servers.server(0), 'select 1')).toBe('1');
});

// Without root, the servers run as the current user, and these tests do not apply.
const isRoot = getuid?.() === 0;

if (isRoot)
  test('below a directory that only root can enter', { timeout: 60_000 }, async () => {
    const prefix = await copyOfPackage(() => true);
    await chmod(prefix, 0o700);
    const server = (await prepareServers(1, { binaries: join(prefix, 'bin') })).server(0);
    await startAs(server, undefined);
    expect(await ask(server, 'select 1')).toBe('1');
  });

test('no programs: the error names the places searched, and no directory stays', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  const preparing = preparePostgres({ directory, names: ['node-1'], postgres: { binaries: '/nowhere/bin' } });
  await expect(preparing).rejects.toThrow(/not found side by side in \/nowhere\/bin/);
  expect(existsSync(directory)).toBe(false);
});

if (isRoot)
  test('as root the servers run as the user nobody, and the password file is gone', { timeout: 60_000 }, async () => {
    const servers = await prepareServers(1);
    const server = servers.server(0);
    expect(existsSync(join(servers.directory, 'initial-password'))).toBe(false);
    await startAs(server, undefined);
    const pid = (await readFile(join(server.dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')[0] ?? '';
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Groups:\s*(65534)?\s*$/m);
  });
