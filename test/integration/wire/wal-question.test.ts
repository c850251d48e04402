// The words of real servers about their WAL, on the connections of ordinary sessions.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WalReport } from '../../../src/model/moves.ts';
import type { PostgresServer } from '../../../src/sandbox/postgres/postgres-server.ts';
import { NOTHING_NAMED } from '../../../src/proxy/moves/named-settings.ts';
import { SessionQuestion } from '../../../src/wire/talk/session-question.ts';
import { WalQuestion } from '../../../src/wire/talk/wal-question.ts';
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { choicesHere, prepareServers, startReplication, untilStreaming } from '../../support/sandbox/postgres.ts';
import { WireClient } from '../../support/sockets/wire-client.ts';
import { until } from '../../support/waiting/until.ts';

const LIMIT_MS = 20_000;

type Standby = Extract<WalReport, { kind: 'standby' }>;
type Primary = Extract<WalReport, { kind: 'primary' }>;

/** A session of a role without any rights. */
async function logIn(server: PostgresServer, startup: Readonly<Record<string, string>> = {}): Promise<WireClient> {
  const file = join(server.dataDirectory, 'pg_hba.conf');
  await writeFile(file, `host all app 127.0.0.1/32 trust\n${await readFile(file, 'utf8')}`);
  await server.query('select pg_reload_conf()');
  return WireClient.connect(server, { user: 'app', database: 'postgres', ...startup });
}

async function walOf(client: WireClient): Promise<WalReport> {
  const question = new WalQuestion(client.serverMajor);
  const { result } = await client.drive(question.start(), question);
  if (result.wal === undefined) throw new Error(result.why);
  return result.wal;
}

async function standbyOf(client: WireClient): Promise<Standby> {
  const wal = await walOf(client);
  if (wal.kind !== 'standby') throw new Error(wal.kind);
  return wal;
}

async function primaryOf(client: WireClient): Promise<Primary> {
  const wal = await walOf(client);
  if (wal.kind !== 'primary') throw new Error(wal.kind);
  return wal;
}

/** True once the standby has replayed to this position. */
async function hasReplayed(client: WireClient, position: number): Promise<boolean | undefined> {
  return (await standbyOf(client)).replayed >= position || undefined;
}

const CHOICES = await choicesHere();

describeUnless(missingForSandbox, 'the WAL of real servers', () => {
  describe.each(CHOICES)('on PostgreSQL %s', (choice) => {
    test('a standby is behind while its replay is paused, and catches up', { timeout: 60_000 }, async () => {
      const servers = await prepareServers(2, choice);
      const [first, second] = [servers.server(0), servers.server(1)];
      await startReplication(first, second);
      await first.query('create role app login');
      await untilStreaming(first, second);
      const onFirst = await logIn(first);
      const created = await primaryOf(onFirst);
      const onSecond = await until('the role is there', () => logIn(second).catch(() => undefined), LIMIT_MS);
      expect(created.timeline).toBe(1);
      await until('it has replayed all', () => hasReplayed(onSecond, created.written), LIMIT_MS);

      await second.query('select pg_wal_replay_pause()');
      await first.query('create table visits as select generate_series(1, 1000) as id');
      const written = await primaryOf(onFirst);
      const paused = await standbyOf(onSecond);
      expect(paused.replayed).toBeLessThan(written.written);
      expect(paused.transactions.allVisibleBelow).toBeLessThan(written.transactions.allVisibleBelow);
      await second.query('select pg_wal_replay_resume()');
      await until('it has replayed all', () => hasReplayed(onSecond, written.written), LIMIT_MS);
      // Every transaction that the standby shows has ended on the primary.
      const { transactions } = await standbyOf(onSecond);
      expect((await primaryOf(onFirst)).transactions.allEndedBelow).toBeGreaterThanOrEqual(
        transactions.allVisibleBelow,
      );

      // A new segment without a record counts as nothing.
      await first.query('select pg_switch_wal()');
      const switched = await primaryOf(onFirst);
      await until('it has replayed all', () => hasReplayed(onSecond, switched.written), LIMIT_MS);

      expect((await primaryOf(onFirst)).recovered).toBeUndefined();
      const last = await primaryOf(onFirst);
      await first.stop('fast');
      await second.promote();
      const promoted = await primaryOf(onSecond);
      expect(promoted).toMatchObject({ kind: 'primary', timeline: 2 });
      // The shutdown of the first one wrote a record behind its last position.
      expect(promoted.recovered).toBeGreaterThan(last.written);
    });

    test('no setting of the session spoils the answer', { timeout: 60_000 }, async () => {
      const servers = await prepareServers(1, choice);
      const server = servers.server(0);
      await startReplication(server);
      await server.query('create role app login');
      const settings = ['statement_timeout=1', 'default_transaction_isolation=serializable', 'client_encoding=LATIN1'];
      const hostile = [...settings, 'standard_conforming_strings=off', 'search_path=nowhere'];
      const client = await logIn(server, { options: hostile.map((setting) => `-c ${setting}`).join(' ') });
      expect((await primaryOf(client)).timeline).toBe(1);
    });

    test('the question about the state of a session tells it too', { timeout: 60_000 }, async () => {
      const servers = await prepareServers(1, choice);
      const server = servers.server(0);
      await startReplication(server);
      await server.query('create role app login');
      const client = await logIn(server);
      const { serverMajor } = client;
      const question = new SessionQuestion({
        serverMajor,
        customNames: [],
        named: NOTHING_NAMED,
        maxStateBytes: 65_536,
      });
      const { result } = await client.drive(question.start(), question);
      expect(result).toMatchObject({ kind: 'answered', state: { wal: { kind: 'primary', timeline: 1 } } });
    });
  });
});
