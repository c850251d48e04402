// Causal reads against real servers: a read that begins behind an acknowledged write sees it on the standby, and
// without the setting it does not (G26).
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { CausalReadsPolicy } from '../../../../src/model/causal-reads.ts';
import type { Address } from '../../../../src/model/member.ts';
import { openPositions } from '../../../../src/positions/positions.ts';
import type { PostgresServer } from '../../../../src/sandbox/postgres/postgres-server.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import {
  addressOf,
  prepareServers,
  startAs,
  startReplication,
  untilAnswer,
  untilStreaming,
} from '../../../support/sandbox/postgres.ts';
import {
  aList,
  aMember,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
} from '../../../support/values/builders.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const SQL = await readFile(new URL('../../../../deploy/reads.sql', import.meta.url), 'utf8');
const PASSWORD = 'a password';
const READ: CausalReadsPolicy = { scope: 'cluster', waitMs: 5000, late: 'error' };

async function passwordFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'password');
  await writeFile(file, PASSWORD);
  return file;
}

async function startLab(first: PostgresServer, second: PostgresServer, file: string): Promise<ProxyLab> {
  const pools = [
    aWritePool(),
    aPool({ causalReads: READ }),
    aPool({ name: 'short', causalReads: { ...READ, waitMs: 100 } }),
    aPool({
      name: 'detour',
      causalReads: { ...READ, waitMs: 100, late: 'primary' },
      fallback: { pool: 'write', maxSessions: 1 },
    }),
    aPool({ name: 'plain' }),
  ];
  const policy = aPolicy({ pools });
  const members = [first, second].map((server) => aMember(server.name, { postgres: addressOf(server) }));
  const open = { [second.name]: addressOf(second) };
  return startProxyLab({
    pools,
    moves: {},
    questions: { user: 'pointsman_monitor', passwordFile: file, database: 'postgres', perSecond: 1000 },
    openPositions,
    snapshot: () => {
      const now = systemClock.now();
      return aSnapshot(policy, aList(now, ...members), isPrimary(first.name, now), isReplica(second.name, now));
    },
    table: {
      write: { open: { [first.name]: addressOf(first) } },
      read: { open },
      short: { open },
      detour: { open },
      plain: { open },
    },
  });
}

/** A session can log in once more without a password. */
async function trust(server: PostgresServer): Promise<void> {
  const file = join(server.dataDirectory, 'pg_hba.conf');
  await writeFile(file, `host all app 127.0.0.1/32 trust\n${await readFile(file, 'utf8')}`);
  await server.query('select pg_reload_conf()');
}

async function aClient({ host, port }: Address): Promise<Client> {
  const client = new Client({ host, port, user: 'app', password: PASSWORD, database: 'postgres', ssl: false });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** How many of the writes are not seen by a read that begins when they are acknowledged. */
async function staleOf(rounds: number, writer: Client, reader: Client): Promise<number> {
  let stale = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { rows } = await writer.query<{ n: number }>('update registers set n = n + 1 where id = 1 returning n');
    const read = await reader.query<{ n: number }>('select n from registers where id = 1');
    if ((read.rows[0]?.n ?? 0) < (rows[0]?.n ?? 0)) stale += 1;
  }
  return stale;
}

describeUnless(missingForSandbox, 'causal reads of real servers', () => {
  test('G26: none is stale, with delayed and paused replay and asynchronous commits', { timeout: 90_000 }, async () => {
    const servers = await prepareServers(2);
    const [first, second] = [servers.server(0), servers.server(1)];
    await startReplication(first);
    await first.query(SQL, [], 15_000);
    await first.query(`alter role pointsman_monitor password '${PASSWORD}'`);
    await first.query(`create role app login superuser password '${PASSWORD}'`);
    await first.query('create table registers (id int primary key, n int); insert into registers values (1, 0)');
    await startAs(second, first);
    for (const server of [first, second]) await trust(server);
    await untilStreaming(first, second);
    const lab = await startLab(first, second, await passwordFile());
    onTestFinished(() => lab.end());
    const writer = await aClient(lab.address('write'));
    const [gated, short, plain] = [
      await aClient(lab.address('read')),
      await aClient(lab.address('short')),
      await aClient(lab.address('plain')),
    ];
    await until(
      'the standby has the role',
      async () => (await gated.query('select 1').catch(() => undefined)) !== undefined,
    );
    expect(await staleOf(60, writer, gated)).toBe(0);

    await second.query("alter system set recovery_min_apply_delay = '30ms'");
    await second.query('select pg_reload_conf()');
    await until('reads without a gate are stale', async () => (await staleOf(5, writer, plain)) > 0);
    expect(await staleOf(10, writer, gated)).toBe(0);
    await second.query('alter system reset recovery_min_apply_delay');
    await second.query('select pg_reload_conf()');

    await writer.query('set synchronous_commit = off');
    expect(await staleOf(40, writer, gated)).toBe(0);
    await writer.query('set synchronous_commit = on');

    await second.query('select pg_wal_replay_pause()');
    // The request takes its time.
    await untilAnswer(second, 'select pg_get_wal_replay_pause_state()', 'paused');
    await writer.query('update registers set n = n + 1 where id = 1');
    const { rows } = await plain.query<{ n: number }>('select n from registers where id = 1');
    await expect(short.query('select n from registers where id = 1')).rejects.toMatchObject({ code: '57014' });
    // One session may go to the primary meanwhile, and takes its read along.
    const [moved, stayed] = [await aClient(lab.address('detour')), await aClient(lab.address('detour'))];
    const seen = await moved.query<{ n: number; standby: boolean }>(
      'select n, pg_is_in_recovery() standby from registers where id = 1',
    );
    expect(seen.rows[0]).toEqual({ n: (rows[0]?.n ?? 0) + 1, standby: false });
    await expect(stayed.query('select n from registers where id = 1')).rejects.toMatchObject({
      code: '57014',
      detail: expect.stringContaining('As many sessions of the pool use its fallback as may: max_sessions is 1.'),
    });
    // Its session goes on, and a read that waits runs when the standby goes on.
    const waiting = gated.query<{ n: number }>({
      name: 'one',
      text: 'select n from registers where id = $1',
      values: [1],
    });
    await second.query('select pg_wal_replay_resume()');
    expect((await waiting).rows[0]?.n).toBe((rows[0]?.n ?? 0) + 1);
    expect(await staleOf(5, writer, gated)).toBe(0);
    await until(
      'the other session goes on',
      async () => (await short.query('select 1').catch(() => undefined)) !== undefined,
    );
  });
});
