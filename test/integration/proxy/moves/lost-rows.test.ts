// A session is parked while its primary still answers, and then the primary is lost, with a standby that is behind. The
// session goes on only at a server that has everything that the session was told.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WalSample } from '../../../../src/core/coverage.ts';
import type { PostgresServer } from '../../../../src/sandbox/postgres/postgres-server.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import {
  addressOf,
  ask,
  choicesHere,
  prepareServers,
  startAs,
  startReplication,
} from '../../../support/sandbox/postgres.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

const LIMIT_MS = 30_000;

interface Scene {
  readonly lab: ProxyLab;
  readonly first: PostgresServer;
  readonly second: PostgresServer;
  readonly client: Client;
  readonly errors: Error[];
  /** As its API would report it. */
  readonly report: (server: PostgresServer) => Promise<void>;
}

async function park({ lab, first }: Scene): Promise<void> {
  lab.decide({ write: { others: { [first.name]: { address: addressOf(first), standing: HANDING_OVER } } } });
  await until('the park', () => lab.events.some(({ kind }) => kind === 'session_parked'), LIMIT_MS);
}

async function promoteSecond({ second, report }: Scene): Promise<void> {
  await second.promote();
  await letAppIn(second);
  await report(second);
}

/** The lost primary acknowledged a row that no other server has. */
async function promoteWithoutRow(scene: Scene): Promise<void> {
  const { first, second, client } = scene;
  await second.stop('immediate');
  await client.query('insert into visits values (101)');
  await park(scene);
  await first.stop('immediate');
  await startAs(second, first);
  await promoteSecond(scene);
}

async function untilReplayed(standby: PostgresServer, position = ''): Promise<void> {
  const isThere = `select pg_last_wal_replay_lsn() >= '${position}'`;
  await until(`${position} on the standby`, async () => (await ask(standby, isThere)) === 'true', LIMIT_MS);
}

async function letAppIn(server: PostgresServer): Promise<void> {
  const file = join(server.dataDirectory, 'pg_hba.conf');
  await writeFile(file, `host all app 127.0.0.1/32 trust\n${await readFile(file, 'utf8')}`);
  await server.query('select pg_reload_conf()');
}

function routeTo({ lab }: Scene, server: PostgresServer): void {
  lab.decide({ write: { open: { [server.name]: addressOf(server) } } });
}

async function crash(server: PostgresServer): Promise<void> {
  await server.stop('immediate');
  await startAs(server, undefined);
  await letAppIn(server);
}

/** Asynchronous commits stay in memory: the server's own processes write no WAL. A crash ends the frozen one too. */
async function keepCommitsFromDisk(server: PostgresServer): Promise<void> {
  await server.configure({ autovacuum: 'off', bgwriter_lru_maxpages: '0' });
  const walWriter = "select pid from pg_stat_activity where backend_type = 'walwriter'";
  process.kill(Number(await ask(server, walWriter)), 'SIGSTOP');
}

/** Other records get the positions of those that were lost. */
async function writeOn(server: PostgresServer): Promise<void> {
  await server.query('create table noise as select generate_series(1, 20000)');
  await server.query('checkpoint');
}

async function untilLost({ lab, errors }: Scene): Promise<void> {
  await until(
    'the end',
    () => lab.closed().length > 0 || lab.events.some(({ kind }) => kind === 'session_moved'),
    LIMIT_MS,
  );
  const [closed] = lab.closed();
  expect(closed?.reason, JSON.stringify(closed)).toBe('move_uncovered');
  await until('the error', () => errors.length > 0, LIMIT_MS);
  expect(errors[0]).toMatchObject({ code: '57P01' });
}

const CHOICES = await choicesHere();

describeUnless(missingForSandbox, 'a primary that is lost while its sessions are parked', () => {
  describe.each(CHOICES)('on PostgreSQL %s', (choice) => {
    async function play(): Promise<Scene> {
      const servers = await prepareServers(2, choice);
      const [first, second] = [servers.server(0), servers.server(1)];
      await startReplication(first, second);
      await letAppIn(first);
      await first.query('create role app login');
      await first.query('create table visits (id int primary key)');
      await first.query('grant all on visits to app');
      // A standby that stops before has no role, and refuses the login.
      await untilReplayed(second, await ask(first, 'select pg_current_wal_insert_lsn()'));
      const samples = new Map<string, readonly WalSample[]>();
      const lab = await startProxyLab({
        moves: {},
        wal: () => ({ samples, ends: undefined }),
      });
      const client = new Client({ ...lab.address('write'), user: 'app', database: 'postgres' });
      const errors: Error[] = [];
      client.on('error', (error) => errors.push(error));
      onTestFinished(async () => {
        await client.end().catch(() => {});
        await lab.end();
      });
      lab.decide({ write: { open: { [first.name]: addressOf(first) } } });
      await client.connect();
      await client.query("set work_mem = '7MB'");
      return {
        lab,
        first,
        second,
        client,
        errors,
        async report(server) {
          const bytes = Number(await ask(server, "select pg_current_wal_lsn() - '0/0'"));
          samples.set(server.name, [{ at: 0, run: { timeline: 2, startedAt: 'once' }, bytes }]);
        },
      };
    }

    test('G24: with a row that only the lost primary had, the session ends', { timeout: 60_000 }, async () => {
      const scene = await play();
      await promoteWithoutRow(scene);
      routeTo(scene, scene.second);
      await untilLost(scene);
      expect(await ask(scene.second, 'select count(*) from visits')).toBe('0');
    });

    test(
      'G24: nor does it go on at a next primary that has crashed since its promotion',
      { timeout: 60_000 },
      async () => {
        const scene = await play();
        await promoteWithoutRow(scene);
        await writeOn(scene.second);
        await crash(scene.second);
        routeTo(scene, scene.second);
        await untilLost(scene);
      },
    );

    test('G24: a row that its primary lost in a crash: the session ends', { timeout: 60_000 }, async () => {
      const scene = await play();
      const { first, client } = scene;
      await keepCommitsFromDisk(first);
      await client.query('set synchronous_commit = off');
      await client.query('insert into visits values (101)');
      await park(scene);
      await crash(first);
      expect(await ask(first, 'select count(*) from visits')).toBe('0');
      await writeOn(first);
      routeTo(scene, first);
      await untilLost(scene);
    });

    test('G24: with all rows on the next primary, the session goes on', { timeout: 60_000 }, async () => {
      const scene = await play();
      const { first, second, client, errors } = scene;
      await client.query('insert into visits values (101)');
      const written = await ask(first, 'select pg_current_wal_insert_lsn()');
      await park(scene);
      await untilReplayed(second, written);
      await first.stop('immediate');
      await promoteSecond(scene);
      routeTo(scene, second);
      expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
      expect((await client.query('select id from visits')).rows).toEqual([{ id: 101 }]);
      expect(errors).toEqual([]);
    });
  });
});
