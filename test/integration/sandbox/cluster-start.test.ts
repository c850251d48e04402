import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { ask } from '../../support/patroni/http.ts';
import { refusesConnections } from '../../support/sockets/free-ports.ts';
import { STARTING_MS } from './cluster-lab.ts';

let sandbox: Sandbox | undefined;
const directories: string[] = [];

afterEach(async () => {
  await sandbox?.stop();
  sandbox = undefined;
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
}, STARTING_MS);

async function aDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  directories.push(directory);
  return directory;
}

it(
  'has the given members, scope, dialect and directory, and leaves nothing',
  async () => {
    const directory = await aDirectory();
    sandbox = await startSandbox({ members: 2, scope: 'orders', dialect: 'patroni', directory });
    const { members } = sandbox;
    expect(members.map(({ name }) => name)).toEqual(['pg-1', 'pg-2']);
    const status = await ask(`${members[1]?.api}/patroni`);
    expect(JSON.parse(status?.text ?? '')).toMatchObject({
      role: 'replica',
      patroni: { scope: 'orders', name: 'pg-2' },
    });
    // The members also query each other in this dialect.
    const body = { leader: 'pg-1', candidate: 'pg-2' };
    const answer = await ask(`${members[0]?.api}/switchover`, { method: 'POST', body, timeoutMs: 15_000 });
    expect(answer).toEqual({ status: 200, text: 'Successfully switched over to "pg-2"' });
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    await expect(access(directory)).rejects.toThrow('ENOENT');
    const ports = members.flatMap(({ port, api }) => [port, Number(new URL(api).port)]);
    for (const port of ports) expect(await refusesConnections('127.0.0.1', port)).toBe(true);
  },
  STARTING_MS,
);

it(
  'ends while its faults are active',
  async () => {
    sandbox = await startSandbox({ members: 3 });
    await sandbox.kill('pg-1');
    await sandbox.freezePostgres('pg-2');
    await sandbox.freezeManager('pg-3');
    await expect(sandbox.crashPostgres('pg-1')).rejects.toThrow('pg-1 is dead');
    await expect(sandbox.kill('pg-4')).rejects.toThrow('there is no member pg-4, only pg-1, pg-2, pg-3');
    expect(sandbox.faulty()).toEqual(['pg-1', 'pg-2', 'pg-3']);
    const { directory } = sandbox;
    await sandbox.stop();
    await expect(access(directory)).rejects.toThrow('ENOENT');
  },
  STARTING_MS,
);

it('reports why it cannot start, and leaves existing files', async () => {
  await expect(startSandbox({ members: 0 })).rejects.toThrow('the number of members must be 1 or more, not 0');
  await expect(startSandbox({ config: { ttl: -1 } })).rejects.toThrow('ttl must be more than 0, not -1');
  const directory = await aDirectory();
  await writeFile(join(directory, 'letter'), 'of somebody');
  await expect(startSandbox({ directory })).rejects.toThrow('is not empty');
  expect(await readdir(directory)).toEqual(['letter']);
  const nowhere = { binaries: join(directory, 'nowhere') };
  await expect(startSandbox({ postgres: nowhere, directory: await aDirectory() })).rejects.toThrow(
    'no PostgreSQL to run',
  );
});
