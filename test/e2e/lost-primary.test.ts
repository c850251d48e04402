// The primary is lost without warning, with `moves.mode: always`: idle sessions go on at the next primary, and their
// clients notice nothing; a session that may have been told what is lost ends with the reason. Logins with SCRAM, two
// workers.
import { kill } from 'node:process';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { HeldSession } from '../support/applications/held-session.ts';
import { CREATE_KEYS, startUniqueWriters } from '../support/applications/unique-writers.ts';
import type { ClusterUnderTest } from '../support/patroni/cluster-under-test.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { waitForMembers } from '../support/clusters/pool-members.ts';
import { SERVER_NAME, serverName } from '../support/clusters/server-name.ts';
import { Fleet } from '../support/moves/fleet.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { programs } from '../support/moves/programs.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { monotonicMs } from '../support/waiting/wait.ts';
import { itUnless } from '../support/runner/unless-missing.ts';
import { median } from '../support/values/median.ts';
import { until } from '../support/waiting/until.ts';

const PATIENCE_MS = 90_000;
const TEST_MS = 240_000;
/** Longer than a session has to be idle, with a report of the primary behind it. */
const IDLE_MS = 8_000;
const SESSIONS = 6;
const OF_EACH_DRIVER = 2;
const WRITERS = 6;
/** In Pointsman's words, or in those of the server. */
const REASON = /pointsman: .*\([a-z_]+\)|terminating connection due to unexpected postmaster exit/;
/** A server may take its time to die. Its busy sessions are then reset, as deploy/errors.md says. */
const EVICTED = /^evicted_(?:dead|demoted)$/;
const RESET = 'Error: read ECONNRESET';
const TOLD = 'insert into told default values returning id';

const known = programs();
const absent = known.flatMap(({ missing }) => missing ?? []);
const missing = absent.length === 0 ? undefined : absent.join('; ');

/** `replication`: whether a standby may stream from the member. */
async function permit(cluster: ClusterUnderTest, name: string, replication: 'scram-sha-256' | 'reject'): Promise<void> {
  const lines = ['host all all 127.0.0.0/8 scram-sha-256', `host replication all 127.0.0.0/8 ${replication}`];
  const [row] = await cluster.sql(name, 'show hba_file');
  const rows = lines.map((line) => `('${line}')`).join(', ');
  await cluster.sql(name, `copy (values ${rows}) to '${String(row?.['hba_file'])}'`);
  await cluster.sql(name, 'select pg_reload_conf()');
}

async function beIdle(): Promise<void> {
  const since = monotonicMs();
  await until('a session that is idle for long', () => monotonicMs() > since + IDLE_MS, PATIENCE_MS);
}

describeOnEveryCluster({ name: 'a primary that is lost without warning', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const sessions: HeldSession[] = [];
  /** A killed member. */
  let dead: string | undefined;
  beforeAll(async () => {
    for (const program of known) if (program.missing === undefined) await program.prepare(directory.path);
  });
  const lab = on.clusterWithPointsman({
    cluster: { members: 2 },
    sql: `${CREATE_KEYS}; create table told (id int generated always as identity)`,
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return {
        ...movesConfig(cluster, directory.path, { mode: 'always', on_stays: 'abort' }),
        workers: 2,
        hold: { client_timeout: '90s', outage_timeout: '120s' },
      };
    },
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
  });

  it(
    'G24: ends the session that was told of the lost row, and the idle one goes on',
    async () => {
      const { cluster } = lab;
      const { old, standby } = await healthy();
      const idle = await open();
      await idle.client.query("set work_mem = '7MB'");
      const first = await idOf(idle);
      await beIdle();
      await permit(cluster, old.name, 'reject');
      const isBehind = async (): Promise<boolean> => {
        await cluster.sql(old.name, 'select pg_terminate_backend(pid) from pg_stat_replication');
        return (await cluster.sql(old.name, 'select 1 from pg_stat_replication')).length === 0;
      };
      await until('a standby that receives nothing', isBehind, PATIENCE_MS);
      const told = await open();
      const lost = await idOf(told);
      await beIdle();

      await killMember(old);
      await until('the end of the session that was told', () => told.endedAtMs !== undefined, PATIENCE_MS);
      expect(told.endedWith).toContain('(move_uncovered)');
      const { rows } = await idle.client.query<{ server: string; memory: string; ids: number[] }>(
        `select ${SERVER_NAME} as server, current_setting('work_mem') as memory, array_agg(id) as ids from told`,
      );
      expect(rows).toEqual([{ server: serverName(standby), memory: '7MB', ids: [first] }]);
      // The server logs the values of a sequence in advance.
      expect([first, lost]).not.toContain(await idOf(idle));
      expect(idle.endedAtMs).toBeUndefined();
    },
    TEST_MS,
  );

  itUnless(
    missing,
    'idle sessions of every driver go on; busy ones end with a reason, and what was acknowledged is stored',
    async () => {
      const { cluster, pointsman } = lab;
      const { old, standby } = await healthy();
      const target = { port: await pointsman.port('write'), as: cluster.app };
      const fleet = await Fleet.open(known, OF_EACH_DRIVER, directory.path, target);
      await cluster.patchConfig({ synchronous_mode: true });
      try {
        const inStep = "select 1 from pg_stat_replication where sync_state = 'sync'";
        await until('the standby', async () => (await cluster.sql(old.name, inStep)).length === 1, PATIENCE_MS);
        await beIdle();
        const writers = startUniqueWriters(WRITERS, target.port, cluster.app, 5);
        await until('writes', () => writers.acknowledged.length > 50, PATIENCE_MS);
        const since = pointsman.lines.length;
        await killMember(old);
        const wroteOn = (server: string): boolean => writers.acknowledged.some((row) => row.server === server);
        await pointsman.waitFor('writes on the next', () => wroteOn(serverName(standby)), PATIENCE_MS);
        const verdicts = await fleet.judge();
        await writers.stop();

        for (const { driver, sessions: opened, kept, errors, changed } of verdicts) {
          expect({ driver, kept, errors, changed }).toEqual({ driver, kept: opened, errors: [], changed: [] });
        }
        expect(writers.errors.length, 'each writer was busy').toBeGreaterThan(0);
        const wordless = writers.errors.filter((error) => !REASON.test(error));
        const ends = pointsman.lines.slice(since).filter(({ event }) => event === 'session_closed');
        const evicted = ends.filter(({ reason }) => EVICTED.test(String(reason)));
        expect(wordless.filter((error) => error !== RESET)).toEqual([]);
        expect(wordless.length, JSON.stringify(ends)).toBeLessThanOrEqual(evicted.length);
        const stored = (await cluster.sql(standby.name, 'select key from keys')).map(({ key }) => key);
        const acknowledged = writers.acknowledged.map(({ key }) => key);
        expect(new Set(acknowledged).size, 'a key that was acknowledged twice').toBe(acknowledged.length);
        expect(acknowledged.filter((key) => !stored.includes(key))).toEqual([]);
        console.log(`on ${on.kind}: writers read`, [...new Set(writers.errors)], `${evicted.length} evicted`);
        await tellGaps('kill -9', since, fleet.size);
      } finally {
        await fleet.stop();
        await cluster.patchConfig({ synchronous_mode: false });
      }
    },
    TEST_MS,
  );

  it(
    'G24: pg_terminate_backend is delivered while the API is silent, whichever process has the session',
    async () => {
      const { cluster, pointsman } = lab;
      const { old } = await healthy();
      const ended = await openMany(SESSIONS);
      const pids = await Promise.all(ended.map(pidOf));
      await beIdle();
      const since = pointsman.lines.length;
      await cluster.freezeManager(old.name);
      try {
        await cluster.sql(
          old.name,
          `select pg_terminate_backend(pid) from unnest('{${pids.join(',')}}'::int[]) as pid`,
        );
        await until('the ends', () => ended.every(({ endedAtMs }) => endedAtMs !== undefined), PATIENCE_MS);
      } finally {
        await cluster.thawManager(old.name);
      }
      expect(new Set(ended.map(({ endedWith }) => endedWith))).toEqual(
        new Set(['terminating connection due to administrator command']),
      );
      expect(moved(since)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'a server that crashes and recovers in place: sessions go on there',
    async () => {
      const { cluster, pointsman } = lab;
      const { old } = await healthy();
      const idle = await openMany(SESSIONS);
      for (const [n, { client }] of idle.entries()) await client.query(`set work_mem = '${n + 1}MB'`);
      const victim = await open();
      const pid = await pidOf(victim);
      await beIdle();
      const since = pointsman.lines.length;
      const asleep = victim.client.query('select pg_sleep(600)').catch((error: unknown) => String(error));
      const isBusy = `select 1 from pg_stat_activity where pid = ${pid} and state = 'active'`;
      await until('the statement', async () => (await cluster.sql(old.name, isBusy)).length === 1, PATIENCE_MS);
      kill(pid, 'SIGKILL');
      expect(await asleep).toContain('(move_in_flight)');
      // Before that the server may still take a statement, and die with it.
      await pointsman.waitFor('the moves', () => moved(since).length >= SESSIONS, PATIENCE_MS);
      const found = await Promise.all(
        idle.map(async ({ client }) =>
          client.query<{ memory: string; server: string }>(
            `select current_setting('work_mem') as memory, ${SERVER_NAME} as server`,
          ),
        ),
      );
      expect(found.map(({ rows }) => rows[0])).toEqual(
        idle.map((_, n) => ({ memory: `${n + 1}MB`, server: serverName(old) })),
      );
      expect(idle.flatMap(({ endedWith }) => endedWith ?? [])).toEqual([]);
      await tellGaps('a crash in place', since, SESSIONS);
    },
    TEST_MS,
  );

  it(
    'a host that vanishes: sessions go on, a client that asks meanwhile is answered, and an open transaction is void',
    async () => {
      const { cluster, pointsman } = lab;
      const { old, standby } = await healthy();
      const idle = await openMany(SESSIONS);
      await idle[0]?.client.query("set work_mem = '7MB'");
      const working = await open();
      await working.client.query("set work_mem = '5MB'");
      await beIdle();
      await working.client.query('begin');
      const lost = await idOf(working);
      const since = pointsman.lines.length;
      await cluster.freezeManager(old.name);
      await cluster.freezePostgres(old.name);
      const areParked = async (): Promise<boolean> => {
        const gone = moved(since).length;
        return gone + ((await pointsman.metric('pointsman_sessions_parked{pool="write"}')) ?? 0) > SESSIONS;
      };
      await pointsman.waitFor('parked sessions', areParked, PATIENCE_MS);
      const answer = idle[0]?.client.query(`select current_setting('work_mem') as memory, ${SERVER_NAME} as server`);
      expect((await answer)?.rows).toEqual([{ memory: '7MB', server: serverName(standby) }]);
      const servers = await Promise.all(
        idle.map(async ({ client }) => client.query(`select ${SERVER_NAME} as server`)),
      );
      expect(servers.map(({ rows }) => rows)).toEqual(idle.map(() => [{ server: serverName(standby) }]));
      expect(idle.flatMap(({ endedWith }) => endedWith ?? [])).toEqual([]);
      await expect(idOf(working)).rejects.toMatchObject({ code: '40001' });
      await expect(idOf(working)).rejects.toMatchObject({ code: '25P02' });
      await working.client.query('rollback');
      const { rows } = await working.client.query(
        `select current_setting('work_mem') as memory, ${SERVER_NAME} as server, array_agg(id) as ids from told`,
      );
      expect(rows).toMatchObject([{ memory: '5MB', server: serverName(standby) }]);
      expect(rows).not.toMatchObject([{ ids: expect.arrayContaining([lost]) }]);
      expect(working.endedWith).toBeUndefined();
      await tellGaps('a host that vanished', since, SESSIONS + 1);
      await killMember(old);
    },
    TEST_MS,
  );

  async function healthy(): Promise<{ readonly old: MemberAddress; readonly standby: MemberAddress }> {
    const { cluster } = lab;
    await lab.pointsman.waitUntilReady();
    if (dead !== undefined) await cluster.start(dead);
    dead = undefined;
    await cluster.waitUntilHealthy();
    for (const { name } of cluster.members()) await permit(cluster, name, 'scram-sha-256');
    const old = await cluster.leader();
    const [standby] = cluster.members().filter(({ name }) => name !== old.name);
    if (standby === undefined) throw new Error('no standby');
    await waitForMembers(lab, 'write', [old]);
    return { old, standby };
  }

  async function killMember({ name }: MemberAddress): Promise<void> {
    await lab.cluster.kill(name);
    dead = name;
  }

  async function open(): Promise<HeldSession> {
    const session = await HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
    sessions.push(session);
    return session;
  }

  const openMany = (count: number): Promise<HeldSession[]> => Promise.all(Array.from({ length: count }, open));

  /** The gaps of the moves since that line of the log. Milliseconds. */
  function moved(since: number): readonly number[] {
    const lines = lab.pointsman.lines.slice(since).filter(({ event }) => event === 'session_moved');
    return lines.map(({ gap_ms: gap }) => Number(gap));
  }

  async function tellGaps(what: string, since: number, count: number): Promise<void> {
    await lab.pointsman.waitFor('the lines of the log', () => moved(since).length >= count);
    const gaps = moved(since);
    const figures = `median ${Math.round(median(gaps))}, most ${Math.round(Math.max(...gaps))}`;
    console.log(`${what} on ${on.kind}: gaps of ${gaps.length} sessions, ms: ${figures}`);
  }
});

async function idOf({ client }: HeldSession): Promise<number> {
  const { rows } = await client.query<{ id: number }>(TOLD);
  return rows[0]?.id ?? 0;
}

async function pidOf({ client }: HeldSession): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
