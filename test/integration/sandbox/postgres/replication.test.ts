// Roles of real servers: streaming, a planned change of primary, parameters, and a standby that cannot start.
import { describe, expect, test } from 'vitest';
import {
  addressOf,
  ask,
  choicesHere,
  prepareServers,
  startAs,
  startReplication,
  untilAnswer,
  untilStreaming,
} from '../../../support/sandbox/postgres.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';

describe.each(await choicesHere())('a given PostgreSQL %s', (choice) => {
  test(
    'a standby streams, takes over after a fast stop, and the old primary follows it',
    { timeout: 60_000 },
    async () => {
      const servers = await prepareServers(2, choice);
      const [first, second] = [servers.server(0), servers.server(1)];
      await startReplication(first, second);
      await first.query('create table visits as select generate_series(1, 1000) as id');
      await untilStreaming(first, second);
      await untilAnswer(second, 'select count(*) from visits', '1000');
      await first.query('insert into visits values (1001)');
      await first.stop('fast');
      expect(first.isAlive()).toBe(false);
      await second.promote();
      // All committed data is there, the last statement before the stop too, and the new primary accepts writes.
      expect(await ask(second, 'insert into visits select count(*) + 1 from visits returning id')).toBe('1002');
      await startAs(first, second);
      await untilStreaming(second, first);
      await untilAnswer(first, 'select max(id) from visits', '1002');
      expect(await ask(first, 'select system_identifier from pg_control_system()')).toBe(servers.systemIdentifier);
      expect(await ask(first, 'show server_version')).toMatch(
        new RegExp(`^${servers.version.replaceAll('.', '\\.')}\\b`),
      );
    },
  );
});

test('a standby follows another server without a restart', { timeout: 60_000 }, async () => {
  const servers = await prepareServers(3);
  const [first, second, third] = [servers.server(0), servers.server(1), servers.server(2)];
  await startReplication(first, second, third);
  const startedAt = await ask(third, 'select pg_postmaster_start_time()');
  await first.kill();
  await second.promote();
  await third.follow(addressOf(second));
  await untilStreaming(second, third);
  await second.query('create table visits (id int)');
  await untilAnswer(third, 'select count(*) from visits', '0');
  expect(await ask(third, 'select pg_postmaster_start_time()')).toBe(startedAt);
});

test('parameters apply, except those the sandbox owns, from any source', { timeout: 60_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  const given = { work_mem: '3MB', 'app.motto': "it's\\here", port: '1', listen_addresses: '*', 'bad name': '1' };
  expect(await server.start({ kind: 'primary' }, given)).toEqual({ kind: 'started' });
  expect(await ask(server, 'show work_mem')).toBe('3MB');
  expect(await ask(server, 'show "app.motto"')).toBe("it's\\here");
  expect(await ask(server, 'show listen_addresses')).toBe('127.0.0.1');
  await server.configure({ work_mem: '5MB', max_connections: '70' });
  await untilAnswer(server, 'show work_mem', '5MB');
  expect(await ask(server, 'select name from pg_settings where pending_restart')).toBe('max_connections');
  await server.query('alter system set port = 1');
  await server.stop('immediate');
  await startAs(server, undefined);
  expect(await ask(server, 'show port')).toBe(String(server.port));
});

test('a standby with less than its primary reports it', { timeout: 60_000 }, async () => {
  const servers = await prepareServers(2);
  const [first, second] = [servers.server(0), servers.server(1)];
  await startReplication(first);
  const standby = { kind: 'standby', upstream: addressOf(first) } as const;
  const outcome = await second.start(standby, { max_connections: '20' });
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'insufficient_parameters' });
  expect(outcome.kind === 'failed' && outcome.log).toContain('max_connections = 20 is a lower setting');
  await waitUntil('it has ended', async () => !second.isAlive(), { timeoutMs: 5_000 });
  expect(await second.start(standby, { max_connections: '100' })).toEqual({ kind: 'started' });
});

test('a server that cannot start reports the reason', { timeout: 60_000 }, async () => {
  const server = (await prepareServers(1)).server(0);
  const outcome = await server.start({ kind: 'primary' }, { no_such_parameter: '1' });
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'exited' });
  expect(outcome.kind === 'failed' && outcome.log).toContain('unrecognized configuration parameter');
  await startAs(server, undefined);
  await expect(server.start({ kind: 'primary' }, {})).rejects.toThrow('node-1 is running');
});
