// The positions of real servers: what a primary names covers what it has acknowledged, and a standby reaches it.
import { readFile, writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, describe } from 'vitest';
import type {
  AskedServer,
  Positions,
  PrimaryWord,
  QuestionsPolicy,
  ReplicaWord,
  NoAnswer,
} from '../../../src/model/causal-reads.ts';
import { readKeyPair } from '../../../src/config/files/key-pair.ts';
import { readPem } from '../../../src/config/files/pem.ts';
import { openPositions } from '../../../src/positions/positions.ts';
import { dialTcp } from '../../../src/proxy/connect/dial.ts';
import { memberConnect, memberDial } from '../../../src/proxy/connect/tls/member-dial.ts';
import { LOGIN_TOOLS, positionsBy } from '../../../src/proxy/login/own-logins.ts';
import type { OpenPositions } from '../../../src/proxy/options.ts';
import type { DialLimits, DialResult } from '../../../src/proxy/server.ts';
import type { PositionEvent } from '../../../src/reports/position-events.ts';
import type { PostgresServer } from '../../../src/sandbox/postgres/postgres-server.ts';
import { startLoginServer } from '../../support/sandbox/login-server.ts';
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import {
  addressOf,
  choicesHere,
  prepareServers,
  startAs,
  startReplication,
  untilStreaming,
} from '../../support/sandbox/postgres.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { until } from '../../support/waiting/until.ts';

const SQL = await readFile(new URL('../../../deploy/reads.sql', import.meta.url), 'utf8');
const PASSWORD = 'pässword 42';
const LIMIT_MS = 10_000;

async function fileWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'password');
  await writeFile(file, text);
  return file;
}

const dialMember = (
  { address }: AskedServer,
  limits: DialLimits,
  onResult: (result: DialResult) => void,
): (() => void) => dialTcp(address, limits, onResult);

interface Asking extends ReturnType<typeof openPositions> {
  readonly events: readonly PositionEvent[];
}

async function positionsWith(changes: Partial<QuestionsPolicy> = {}, identifier?: string): Promise<Asking> {
  const events: PositionEvent[] = [];
  const passwordFile = await fileWith(`${PASSWORD}\n`);
  const policy = { user: 'pointsman_monitor', passwordFile, database: 'postgres', perSecond: 1000, ...changes };
  const positions = openPositions({
    clock: systemClock,
    policy: () => policy,
    connect: memberConnect(dialMember, systemClock, false),
    systemIdentifier: () => identifier,
    tools: LOGIN_TOOLS,
    endPointOf: () => undefined,
    onEvent: (event) => events.push(event),
    apart: (run) => run(),
  });
  onTestFinished(() => positions.end());
  return Object.assign(positions, { events });
}

/** With the role of deploy/reads.sql. */
async function startPrimary(server: PostgresServer): Promise<void> {
  await startReplication(server);
  // The file can be run again.
  for (const script of [SQL, SQL]) await server.query(script, [], 15_000);
  await server.query(`alter role pointsman_monitor password '${PASSWORD}'`);
  // They must not spoil an answer.
  await server.query("alter role pointsman_monitor set default_transaction_isolation = 'serializable'");
  await server.query("alter role pointsman_monitor set search_path = 'nowhere'");
}

async function permit(server: PostgresServer, line: string): Promise<void> {
  const file = join(server.dataDirectory, 'pg_hba.conf');
  await writeFile(file, `${line}\n${await readFile(file, 'utf8')}`);
  await server.query('select pg_reload_conf()');
}

const asked = (server: PostgresServer): AskedServer => ({ member: server.name, address: addressOf(server) });

function answered<Word extends PrimaryWord | ReplicaWord>(word: Word | NoAnswer): Word {
  if ('why' in word) throw new Error(word.why);
  return word;
}

async function untilReached(positions: Positions, standby: PostgresServer, target: number): Promise<void> {
  const isThere = async (): Promise<boolean> => answered(await positions.askReplica(asked(standby))).replayed >= target;
  await until(`${standby.name} has replayed ${target}`, isThere, LIMIT_MS);
}

const CHOICES = await choicesHere();

describeUnless(missingForSandbox, 'the positions of real servers', () => {
  describe.each(CHOICES)('on PostgreSQL %s', (choice) => {
    test('a standby reaches what its primary names, and a nudge flushes it', { timeout: 60_000 }, async () => {
      const servers = await prepareServers(2, choice);
      const [first, second] = [servers.server(0), servers.server(1)];
      await startPrimary(first);
      await startAs(second, first);
      await untilStreaming(first, second);
      const positions = await positionsWith();
      await until('the role is there', async () => !('why' in (await positions.askReplica(asked(second)))), LIMIT_MS);
      const written = async (): Promise<PrimaryWord> => answered(await positions.askPrimary(asked(first)));
      await first.query('create table visits (id int)');
      await untilReached(positions, second, (await written()).written);

      // The server writes a record of its own now and then, and flushes it: then the place is made once more.
      const placed = (meaning: string, sql: string, isThere: (word: PrimaryWord) => boolean): Promise<PrimaryWord> =>
        until(
          meaning,
          async () => {
            await first.query(sql, [], 20_000);
            const word = await written();
            return isThere(word) ? word : undefined;
          },
          LIMIT_MS,
        );
      const switched = await placed('the first page of a segment', 'select pg_switch_wal()', isAtPage);
      await untilReached(positions, second, switched.written);
      const filled = await placed('a full page', FILL_A_PAGE, isAtPage);
      positions.nudge(asked(first));
      await untilReached(positions, second, filled.written);

      // Nobody flushes the records of a transaction that is still open.
      await first.query('begin');
      const insert = 'insert into visits values (1)';
      const open = await placed('a record that is not flushed', insert, (word) => word.flushed < word.written);
      expect(open).toMatchObject({ member: 'node-1', timeline: 1 });
      positions.nudge(asked(first));
      await untilReached(positions, second, open.written);
      expect((await written()).flushed).toBeGreaterThanOrEqual(open.written);
      await first.query('rollback');
      expect(await positions.askPrimary(asked(second))).toEqual({ why: 'it is in recovery' });
      expect(await positions.askReplica(asked(first))).toEqual({ why: 'it is not in recovery' });
    });
  });

  test('a number belongs to one question, and a restart takes the words back', { timeout: 60_000 }, async () => {
    const first = (await prepareServers(1)).server(0);
    await startPrimary(first);
    const positions = await positionsWith();
    const [one, other] = await Promise.all([positions.askPrimary(asked(first)), positions.askPrimary(asked(first))]);
    // Both came before it left.
    expect(answered(one).question).toBe(answered(other).question);
    const third = answered(await positions.askPrimary(asked(first)));
    expect(third.question).toBeGreaterThan(answered(one).question);
    expect(positions.newestQuestion()).toBe(third.question);
    expect(positions.lastPrimary(asked(first))).toEqual(third);
    await first.stop('fast');
    await until('the end is noticed', () => positions.lastPrimary(asked(first)) === undefined, LIMIT_MS);
    expect(positions.events).toMatchObject([
      { kind: 'positions_connected', member: 'node-1' },
      { kind: 'positions_failed', why: expect.stringMatching(/57P01|closed the connection/) },
    ]);
    const waiting = positions.askPrimary(asked(first));
    expect(await waiting).toEqual({ why: expect.stringContaining('connection refused') });
    await startReplication(first);
    const again = await until(
      'it answers',
      async () => {
        const word = await positions.askPrimary(asked(first));
        return 'why' in word ? undefined : word;
      },
      LIMIT_MS,
    );
    expect(again.question).toBeGreaterThan(third.question);
  });

  test('who cannot be trusted is not asked', { timeout: 60_000 }, async () => {
    const first = (await prepareServers(1)).server(0);
    await startPrimary(first);
    const wrong = await positionsWith({ passwordFile: await fileWith('wrong') });
    expect(await wrong.askPrimary(asked(first))).toEqual({
      why: 'password authentication failed for user "pointsman_monitor" (28P01)',
    });
    const without = await positionsWith({ passwordFile: undefined });
    expect(await without.askPrimary(asked(first))).toEqual({ why: expect.stringContaining('asks for a password') });
    const stranger = await positionsWith({}, '7000000000000000001');
    expect(await stranger.askPrimary(asked(first))).toEqual({ why: expect.stringContaining('another cluster') });
    await permit(first, 'host postgres pointsman_monitor 127.0.0.1/32 trust');
    const unproven = await positionsWith();
    const why = 'the server has not proven that it knows the password';
    await until('it trusts', async () => 'why' in (await unproven.askPrimary(asked(first))), LIMIT_MS);
    expect(await unproven.askPrimary(asked(first))).toEqual({ why });
    await permit(first, 'host postgres pointsman_monitor 127.0.0.1/32 password');
    const inTheClear = await positionsWith();
    await until('it asks for plain text', async () => 'why' in (await inTheClear.askPrimary(asked(first))), LIMIT_MS);
    expect(await inTheClear.askPrimary(asked(first))).toEqual({ why: expect.stringContaining('in plain text') });
  });

  test('with TLS the login binds to the certificate of the server', { timeout: 60_000 }, async () => {
    const login = await startLoginServer('embedded', true);
    onTestFinished(() => login.close());
    await login.run(SQL, `alter role pointsman_monitor password '${PASSWORD}'`);
    const trust = { mode: 'verify-full', caFile: login.caFile, serverName: undefined, crlFile: undefined } as const;
    const tls = { ...trust, pair: undefined, negotiation: 'request', minVersion: 'TLSv1.2' } as const;
    const parts = { clock: systemClock, readPem, readKeyPair, onEvent: () => {} };
    const dial = memberDial({ ...parts, dial: dialTcp, memberTls: () => tls });
    const questions = {
      user: 'pointsman_monitor',
      passwordFile: await fileWith(PASSWORD),
      database: 'postgres',
      perSecond: 1000,
    };
    const asking = (change: Partial<Parameters<OpenPositions>[0]>): ReturnType<OpenPositions> => {
      const open: OpenPositions = (needs) => openPositions({ ...needs, ...change });
      const positions = positionsBy({ ...parts, openPositions: open }, dial, () => ({ questions }));
      onTestFinished(() => positions.end());
      return positions;
    };
    expect(answered(await asking({}).askPrimary(asked(login.server))).timeline).toBe(1);
    const another = asking({ endPointOf: () => new Uint8Array(32) });
    expect(await another.askPrimary(asked(login.server))).toEqual({
      why: expect.stringContaining('channel binding check failed'),
    });
  });
});

/** PostgreSQL names a place behind the header of a page that is empty so far. */
const isAtPage = (word: PrimaryWord): boolean => word.written % 8192 === 0;

/** Until a record ends with its page. */
const FILL_A_PAGE = `do $$
begin
  for i in 1..100000 loop
    perform pg_logical_emit_message(false, 'fill', repeat('x', i % 7));
    exit when pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') % 8192 = 24;
  end loop;
end $$`;
