// Servers broken on purpose: killed, frozen, crashed from outside. Nothing of them stays.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { kill } from 'node:process';
import { expect, test } from 'vitest';
import { readPostmasterFile } from '../../../../src/sandbox/postgres/postmaster-file.ts';
import { postgresProcessesIn } from '../../../../src/sandbox/postgres/processes.ts';
import { openSql } from '../../../../src/sandbox/postgres/sql.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import {
  ask,
  prepareServers,
  sharedMemory,
  sharedMemoryOf,
  startAs,
  startReplication,
} from '../../../support/sandbox/postgres.ts';

function connectionOutcome(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('connect', () => resolve('connected'))
      .once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    socket.once('close', () => socket.destroy());
    socket.unref();
  });
}

test(
  'a killed server leaves no process, port or shared memory, and starts again with all committed data',
  { timeout: 60_000 },
  async () => {
    const server = (await prepareServers(1)).server(0);
    let exits = 0;
    server.onExit(() => (exits += 1));
    await startAs(server, undefined);
    await server.query('create table visits as select 42 as id');
    const segment = await sharedMemoryOf(server);
    expect(await sharedMemory()).toContain(segment);
    const postmaster = (await readPostmasterFile(server.dataDirectory))?.pid;
    expect(await readFile(`/proc/${postmaster}/maps`, 'utf8')).not.toContain('/dev/shm/');
    expect((await postgresProcessesIn(server.dataDirectory)).length).toBeGreaterThan(4);
    // A session in the middle of a statement, as in production.
    const busy = server.query('select pg_sleep(60)', [], 30_000).then(String, (error: Error) => error.message);
    await server.kill();
    // The reset of the connection may be read first.
    expect(await busy).toMatch(/terminated|ECONNRESET/);
    expect(server.isAlive()).toBe(false);
    expect(exits).toBe(1);
    expect(await postgresProcessesIn(server.dataDirectory)).toEqual([]);
    expect(await connectionOutcome(server.port)).toBe('ECONNREFUSED');
    expect(await sharedMemory()).not.toContain(segment);
    await expect(server.query('select 1')).rejects.toThrow('not running');
    await startAs(server, undefined);
    expect(await ask(server, 'select id from visits')).toBe('42');
    await server.kill();
    expect(exits).toBe(2);
  },
);

test(
  'a postmaster killed from outside is noticed, and started again over its orphans',
  { timeout: 60_000 },
  async () => {
    const servers = await prepareServers(1);
    const server = servers.server(0);
    await startAs(server, undefined);
    const exited = new Promise<void>((resolve) => server.onExit(resolve));
    // A busy backend does not notice the end of its postmaster, and holds the shared memory.
    const busy = server.query('do $$ begin loop end loop; end $$', [], 30_000).catch(() => {});
    const other = openSql({ host: server.host, port: server.port, ...servers.superuser });
    const isBusy = "select 1 from pg_stat_activity where state = 'active' and query like 'do %'";
    await waitUntil('the statement runs', async () => (await other.query(isBusy, [], 2_000)).length === 1, {
      timeoutMs: 5_000,
    });
    other.reset();
    kill((await readPostmasterFile(server.dataDirectory))?.pid ?? 0, 'SIGKILL');
    await exited;
    await busy;
    expect(server.isAlive()).toBe(false);
    const orphans = await postgresProcessesIn(server.dataDirectory);
    expect(orphans).not.toEqual([]);
    await startAs(server, undefined);
    const now = await postgresProcessesIn(server.dataDirectory);
    expect(now.filter((pid) => orphans.includes(pid))).toEqual([]);
    expect(await ask(server, 'select 1')).toBe('1');
  },
);

test('a frozen server accepts and never answers; thawed it goes on', { timeout: 60_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  await startAs(server, undefined);
  await server.query('select 1');
  await server.freeze();
  await server.freeze();
  expect(server.isAlive()).toBe(true);
  // On the open connection, then on a new one, then three at once: each has its own deadline.
  await expect(server.query('select 1', [], 300)).rejects.toThrow('no answer from PostgreSQL');
  await expect(server.query('select 1', [], 300)).rejects.toThrow('within 300 ms');
  const startedAt = performance.now();
  const three = await Promise.allSettled([1, 2, 3].map(() => server.query('select 1', [], 300)));
  expect(three.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(performance.now() - startedAt).toBeLessThan(800);
  await server.thaw();
  await server.thaw();
  expect(await ask(server, 'select 1')).toBe('1');
});

test('a frozen server can be stopped, killed and closed', { timeout: 60_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  await startAs(server, undefined);
  await server.freeze();
  const startedAt = performance.now();
  await server.stop('fast');
  // The server ended by itself, not at the deadline.
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(server.isAlive()).toBe(false);
  await startAs(server, undefined);
  await server.freeze();
  await server.kill();
  expect(await postgresProcessesIn(server.dataDirectory)).toEqual([]);
  await startAs(server, undefined);
  expect(await ask(server, 'select 1')).toBe('1');
  await server.freeze();
  await server.close();
  await server.close();
  expect(server.isAlive()).toBe(false);
});

test(
  'a failed statement frees its connection for the next; one that takes too long blocks no other',
  { timeout: 60_000 },
  async () => {
    const server = (await prepareServers(1)).server(0);
    await startAs(server, undefined);
    const before = await ask(server, 'select pg_backend_pid()');
    await expect(server.query('select 1 / 0')).rejects.toThrow('division by zero');
    expect(await ask(server, 'select pg_backend_pid()')).toBe(before);
    await expect(server.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow(
      'terminating connection',
    );
    expect(await ask(server, 'select $$anew$$')).toBe('anew');
    await expect(server.query('select pg_sleep(30)', [], 200)).rejects.toThrow('within 200 ms');
    expect(await ask(server, 'select $$not behind it$$')).toBe('not behind it');
  },
);

test('close() ends everything and removes the directory', { timeout: 60_000 }, async () => {
  const servers = await prepareServers(2);
  const [first, second] = [servers.server(0), servers.server(1)];
  await startReplication(first, second);
  const segment = await sharedMemoryOf(second);
  await servers.close();
  await servers.close();
  expect(existsSync(servers.directory)).toBe(false);
  expect(await postgresProcessesIn(servers.directory)).toEqual([]);
  expect(await sharedMemory()).not.toContain(segment);
  expect(await connectionOutcome(first.port)).toBe('ECONNREFUSED');
});
