// Switchovers in which sessions move although `pointsman switchover` does not run: another tool asks the cluster, or
// the cluster has scheduled one. And one that the cluster refuses when the sessions are parked already.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/io.ts';
import { whyNoTool } from '../../support/applications/client-tools.ts';
import { HeldSession } from '../../support/applications/held-session.ts';
import { waitForCandidates } from '../../support/clusters/candidates.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../../support/clusters/pool-members.ts';
import { expectKept, lostSessions } from '../../support/moves/expect-kept.ts';
import { Fleet } from '../../support/moves/fleet.ts';
import { listSessions } from '../../support/moves/move.ts';
import { rowsOf, startPgbench, STEADY_RATE, storedRows } from '../../support/moves/pgbench.ts';
import type { RunningPgbench } from '../../support/moves/pgbench.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import { programs } from '../../support/moves/programs.ts';
import type { ProgramTarget } from '../../support/moves/programs.ts';
import { temporaryDirectory } from '../../support/moves/temporary-directory.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { monotonicMs } from '../../support/waiting/wait.ts';
import { Command } from '../../support/processes/command.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../../support/processes/pointsman-process.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

/** Connections of each driver. */
const POOLED = { Patroni: 20, sandbox: 8 };
const CLIENTS = 4;
/**
 * Longer than a session has to be idle, with a report of the primary behind it. A question without an answer is asked
 * again after 8 s.
 */
const IDLE_MS = 12_000;
const PATIENCE_MS = 60_000;
/** In the plan of the switchover that is refused. */
const COUNTED = /"movable":\s*5\b/;

/** Words of PostgreSQL, of Pointsman, or of a driver that has not read them. */
const WORDS =
  /57P01|pointsman: |terminating connection|closed the connection unexpectedly|SSL connection has been|backend died/;
/** The server ended the session (with a reset if a statement came too late for it), or Pointsman did. */
const REASONS = new Set([
  'client_closed',
  'backend_closed',
  'backend_reset',
  'evicted_demoted',
  'move_uncovered',
  'move_in_flight',
]);

const drivers = programs().filter(({ name }) => ['node-postgres', 'psycopg2'].includes(name));
const absent = drivers.flatMap(({ missing }) => missing ?? []).concat(whyNoTool('pgbench') ?? []);
const missing = absent.length === 0 ? undefined : absent.join('; ');

describeOnEveryCluster({ name: 'a switchover that others start', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  let always: PointsmanProcess | undefined;
  const pools = { write: { check: '/primary', on_leave: { demoted: 'move' } }, read: { check: '/replica' } };
  const hold = { before_switchover: '15s', client_timeout: '120s', outage_timeout: '150s' };
  const lab = on.clusterWithPointsman({
    cluster: { parameters: { max_connections: 400 } },
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return { ...movesConfig(cluster, directory.path), pools, hold, workers: 2 };
    },
  });
  beforeAll(async () => {
    const sections = movesConfig(lab.cluster, directory.path, { mode: 'always' });
    const other = await startPointsman(configFor(lab.cluster, { ...sections, pools }));
    always = other;
    for (const pointsman of [lab.pointsman, other]) await pointsman.waitUntilReady();
  });
  afterAll(async () => {
    await always?.stop();
  });

  itUnless(
    missing,
    'a request of another tool: each session moves with its state, or ends with a reason, and no row is lost',
    async () => {
      const { cluster, pointsman: planned } = lab;
      if (always === undefined) throw new Error('used before beforeAll');
      const old = await healthy();
      const open = async (pointsman: PointsmanProcess, mode: 'planned' | 'always'): Promise<Side> => {
        await waitForMembers({ cluster, pointsman }, 'write', [old]);
        const to = await target(pointsman);
        const fleet = await Fleet.open(drivers, POOLED[on.kind], directory.path, to);
        const source = `asked-${mode}`;
        return { mode, pointsman, fleet, source, bench: load(to, source) };
      };
      const sides = [await open(planned, 'planned'), await open(always, 'always')];
      try {
        const other = always;
        await other.waitFor('a question to every idle session', () => areAsked(other), PATIENCE_MS);
        const since = monotonicMs();
        await planned.waitFor('sessions that are idle for long', () => monotonicMs() > since + IDLE_MS, PATIENCE_MS);
        const next = await cluster.switchover();
        expect(next.name).not.toBe(old.name);
        for (const { mode, pointsman, fleet, source, bench } of sides) {
          await waitForMembers({ cluster, pointsman }, 'write', [next]);
          const { acknowledged, errors, longestMs } = await bench.finish();
          const verdicts = await fleet.judge();
          const kept = verdicts.reduce((all, verdict) => all + verdict.kept, 0);
          const found = { mode, idle: fleet.size, kept, reasons: reasons(pointsman) };
          console.log(`asked by another tool, on ${on.kind}:`, found, {
            acknowledged,
            errors: errors.length,
            longestMs,
          });
          for (const { driver, sessions, kept, errors: told, changed } of verdicts) {
            expect({ driver, changed, ends: kept + told.length }, lostSessions(pointsman)).toEqual({
              driver,
              changed: [],
              ends: sessions,
            });
            expect(told.filter((text) => !WORDS.test(text))).toEqual([]);
            if (mode === 'always') {
              expect({ driver, kept }, lostSessions(pointsman)).toEqual({ driver, kept: sessions });
            }
          }
          const ends = Object.keys(found.reasons).filter((reason) => !REASONS.has(reason));
          expect([ends, errors.filter((text) => !WORDS.test(text))]).toEqual([[], []]);
          // A client that lost its server does not know about one row.
          const rows = await storedRows(lab.cluster, source);
          expect(rows).toBeGreaterThanOrEqual(acknowledged);
          expect(rows).toBeLessThanOrEqual(acknowledged + errors.length);
        }
      } finally {
        await Promise.all(sides.map(({ fleet }) => fleet.stop()));
      }
    },
    180_000,
  );

  itUnless(
    missing,
    'a scheduled switchover: every session is parked before its time, and no client sees an error',
    async () => {
      const { cluster, pointsman } = lab;
      const old = await healthy();
      const to = await target(pointsman);
      const fleet = await Fleet.open(drivers, POOLED[on.kind], directory.path, to);
      try {
        const bench = load(to, 'scheduled');
        await schedule(old, Date.now() + 20_000);
        await pointsman.operate('/refresh', ADMIN_TOKEN);
        const isDone = async (): Promise<boolean> => (await cluster.leader()).name !== old.name;
        await cluster.waitUntil('the scheduled switchover', isDone, PATIENCE_MS);
        await waitForMembers(lab, 'write', [await cluster.leader()]);
        const result = await bench.finish();
        console.log(`scheduled, on ${on.kind}: ${fleet.size} idle sessions, pgbench`, result);
        expectKept(await fleet.judge(), pointsman);
        expect(result.errors, lostSessions(pointsman)).toEqual([]);
        expect(await storedRows(lab.cluster, 'scheduled')).toBe(rowsOf('simple', result));
      } finally {
        await fleet.stop();
      }
    },
    180_000,
  );

  it(
    'a switchover that the cluster refuses: parked sessions go on at the old primary',
    { timeout: 120_000 },
    async () => {
      const { cluster, pointsman } = lab;
      const old = await healthy();
      await waitForCandidates(lab);
      const [candidate] = await replicasOf(cluster);
      const held = await HeldSession.openMany(6, await pointsman.port('write'), cluster.app);
      const [busy, ...idle] = held;
      if (busy === undefined) throw new Error('a session is needed');
      await Promise.all(idle.map(({ client }) => client.query("set work_mem = '7MB'")));
      await busy.client.query('begin');
      await busy.client.query("insert into loaded (source) values ('refused')");
      // A plan of a moment ago may have counted the sessions of then.
      const isCounted = async (): Promise<boolean> => COUNTED.test((await pointsman.admin('/switchover')).text);
      await pointsman.waitFor('the count of the sessions', isCounted, PATIENCE_MS);
      const admin = `127.0.0.1:${await pointsman.port('admin')}`;
      const words = ['switchover', '--to', candidate.name, '--admin', admin, '--yes', '--transaction-timeout', '60s'];
      const command = new Command(words, { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
      const areParked = async (): Promise<boolean> => (await parked(pointsman)) === idle.length;
      await pointsman.waitFor('parked sessions', areParked, PATIENCE_MS);
      // The cluster finds that the candidate does not answer only when it is asked.
      await cluster.freezeManager(candidate.name);
      try {
        await busy.client.query('commit');
        expect(await command.ended(), command.output).toBe(EXIT.failure);
        console.log(command.output);
        // The sum of both workers.
        const told = pointsman.lines.filter(({ event, movable }) => event === 'preflight_finished' && movable !== 0);
        const counts = told.map((line) => [Number(line['movable']), Number(line['unknown'])] as const);
        expect(counts).toContainEqual([idle.length, 1]);
        // A question that took too long is unknown.
        expect(counts.filter(([movable, unknown]) => movable + unknown > held.length)).toEqual([]);
        expect((await cluster.leader()).name).toBe(old.name);
        const memory = await Promise.all(idle.map(({ client }) => client.query('show work_mem')));
        expect(memory.flatMap(({ rows }) => rows)).toEqual(idle.map(() => ({ work_mem: '7MB' })));
        const { rows } = await busy.client.query("select source from loaded where source = 'refused'");
        const ends = held.flatMap(({ endedWith }) => endedWith ?? []);
        expect([rows.length, ends], lostSessions(pointsman)).toEqual([1, []]);
        expect(await parked(pointsman)).toBe(0);
      } finally {
        await cluster.thawManager(candidate.name);
        for (const session of held) await session.close();
      }
    },
  );

  interface Side {
    readonly mode: 'planned' | 'always';
    readonly pointsman: PointsmanProcess;
    readonly fleet: Fleet;
    readonly source: string;
    readonly bench: RunningPgbench;
  }

  async function healthy(): Promise<MemberAddress> {
    await lab.cluster.waitUntilHealthy();
    const leader = await lab.cluster.leader();
    await waitForMembers(lab, 'write', [leader]);
    await waitForMembers(lab, 'read', await replicasOf(lab.cluster));
    return leader;
  }

  async function target(pointsman: PointsmanProcess): Promise<ProgramTarget> {
    return { port: await pointsman.port('write'), as: lab.cluster.app };
  }

  function load(to: ProgramTarget, source: string): RunningPgbench {
    const rate = STEADY_RATE;
    return startPgbench(to, { mode: 'simple', clients: CLIENTS, rate, directory: directory.path, source });
  }
});

/** With `mode: always` each idle session is asked, so that it can go on without its server. */
async function areAsked(pointsman: PointsmanProcess): Promise<boolean> {
  const idle = (await listSessions(pointsman)).filter(({ application }) => application?.startsWith('pooled-'));
  return idle.length > 0 && idle.every(({ moves }) => moves?.answer?.movable === true);
}

async function parked(pointsman: PointsmanProcess): Promise<number | undefined> {
  return pointsman.metric('pointsman_sessions_parked{pool="write"}');
}

/** How many sessions ended for which reason. */
function reasons({ lines }: PointsmanProcess): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { event, reason } of lines) {
    if (event === 'session_closed') counts[String(reason)] = (counts[String(reason)] ?? 0) + 1;
  }
  return counts;
}

async function schedule(leader: MemberAddress, atMs: number): Promise<void> {
  const body = JSON.stringify({ leader: leader.name, scheduled_at: new Date(atMs).toISOString() });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${leader.api}/switchover`, { method: 'POST', headers, body });
  expect([response.status, await response.text()]).toEqual([202, expect.any(String)]);
}
