// All three servers are restarted one after the other under load, as an operator does it: each replica is taken out of the read pool by
// its tag, drained, restarted and put back; then the primary hands over, and what it was is restarted in the same way.
//
// What is promised, and how it is read here. A move is one of those four steps that take sessions away from a member.
// - No connect fails: not one that was begun before a move either, except those which the old primary's PostgreSQL was just
//   authenticating when it began to shut down (it ends them with a word of its own; a direct client meets the same).
// - A session is closed at most once per move.
// - Pointsman closes a session only between two of its transactions. That is every close in the moves of the replicas. In the
//   handover PostgreSQL's own shutdown ends the sessions of the old primary wherever they are, and says so: Patroni announces it
//   only moments before, so nobody in between can wait for the transactions. A session that ends inside one must have that word.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES, READ_ROW, WRITE_ROW, type Attempt } from '../support/connect-load.ts';
import { HeldSession } from '../support/held-session.ts';
import { monotonicMs } from '../support/patroni/wait.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { replicasOf, waitForMembers } from '../support/pool-members.ts';
import { ReconnectingClients } from '../support/reconnecting-clients.ts';
import { type FailedConnect, WorkingSession } from '../support/working-session.ts';

const CLIENTS_EACH = 50;
const SESSIONS_EACH = 25;
const DRAINED_WITHIN_MS = 40_000;
/** More than PostgreSQL takes for one on a busy machine. */
const AUTHENTICATION_MS = 2000;
/** What PostgreSQL says to the sessions of a server that shuts down. */
const SHUTDOWN_WORDS = /^57P01 terminating connection due to administrator command$/;
const POINTSMAN_WORDS = /^57P01 pointsman: /;

interface Move {
  readonly what: string;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

describeOnEveryCluster('a rolling restart', (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_WRITES });
  const moves: Move[] = [];

  async function move(what: string, act: () => Promise<void>): Promise<Move> {
    const beganAtMs = monotonicMs();
    await act();
    const made = { what, beganAtMs, endedAtMs: monotonicMs() };
    moves.push(made);
    return made;
  }

  /** Clients' sessions on that server, by its own account. */
  async function sessionsOn({ name }: MemberAddress): Promise<number> {
    const text = `select count(*)::int as count from pg_stat_activity where usename = '${lab.cluster.app.user}'`;
    const [row] = await lab.cluster.sql(name, text);
    return Number(row?.['count']);
  }

  async function restartOutOfTraffic(member: MemberAddress): Promise<void> {
    const { cluster, pointsman } = lab;
    await cluster.setTags(member.name, { noloadbalance: true });
    const others = (await replicasOf(cluster)).filter(({ name }) => name !== member.name);
    await waitForMembers(lab, 'read', others);
    await pointsman.waitFor('the drain', async () => (await sessionsOn(member)) === 0, DRAINED_WITHIN_MS);
    await cluster.restart(member.name);
    await cluster.setTags(member.name, {});
    await waitForMembers(lab, 'read', await replicasOf(cluster));
  }

  it('fails no connect, ends each session at most once per move, and Pointsman itself only between two transactions', async () => {
    const { cluster, pointsman } = lab;
    const old = await cluster.leader();
    const replicas = await replicasOf(cluster);
    await waitForMembers(lab, 'write', [old]);
    await waitForMembers(lab, 'read', replicas);
    const [write, read] = [await pointsman.port('write'), await pointsman.port('read')];
    const host = '127.0.0.1';
    const writers = new ReconnectingClients(CLIENTS_EACH, { host, port: write, ...cluster.app, sql: WRITE_ROW });
    const readers = new ReconnectingClients(CLIENTS_EACH, { host, port: read, ...cluster.app, sql: READ_ROW });
    const sessions = [write, read].flatMap((port) =>
      Array.from({ length: SESSIONS_EACH }, (_, i) => new WorkingSession(port, cluster.app, i / SESSIONS_EACH)),
    );
    const atWork = (): boolean => sessions.every(({ server }) => server !== undefined);
    await pointsman.waitFor('every session at work', atWork);
    const direct = await HeldSession.open(old.port, cluster.app, old.host);

    for (const replica of replicas) await move(`restart of ${replica.name}`, () => restartOutOfTraffic(replica));
    await move('handover', async () => {
      await cluster.switchover();
      await cluster.waitUntilHealthy();
      await pointsman.waitFor('every session at work again', atWork);
    });
    await move(`restart of ${old.name}`, () => restartOutOfTraffic(old));
    await pointsman.waitFor('every session at work at the end', atWork);
    const [written, asked] = [await writers.stop(), await readers.stop()];
    await Promise.all(sessions.map((session) => session.stop()));
    const shutdownAtMs = direct.endedAtMs;
    if (shutdownAtMs === undefined) throw new Error('the direct session outlived the handover');

    const [workers, readingWorkers] = [sessions.slice(0, SESSIONS_EACH), sessions.slice(SESSIONS_EACH)];
    expect(failedConnects(asked, readingWorkers), pointsman.explain()).toEqual([]);
    const underShutdown = ({ startedAtMs }: FailedConnect): boolean =>
      startedAtMs <= shutdownAtMs && startedAtMs > shutdownAtMs - AUTHENTICATION_MS;
    expect(
      failedConnects(written, workers).filter((failed) => !underShutdown(failed)),
      pointsman.explain(),
    ).toEqual([]);
    for (const { what, beganAtMs, endedAtMs } of moves) {
      const closes = sessions.map(({ ends }) => ends.filter((end) => end.atMs >= beganAtMs && end.atMs <= endedAtMs));
      const within = closes.flat().filter(({ inTransaction }) => inTransaction);
      console.log(
        `rolling restart on ${on.kind}, ${what}: ${closes.flat().length} of ${sessions.length} sessions closed, ${within.length} of them inside a transaction`,
      );
      expect(Math.max(...closes.map((ends) => ends.length)), what).toBeLessThanOrEqual(1);
      expect(
        within.filter(({ words }) => what !== 'handover' || !SHUTDOWN_WORDS.test(words)),
        what,
      ).toEqual([]);
      const strange = closes.flat().filter(({ words }) => !POINTSMAN_WORDS.test(words) && !SHUTDOWN_WORDS.test(words));
      expect(strange, what).toEqual([]);
    }
    const outside = sessions.flatMap(({ ends }) =>
      ends.filter(({ atMs }) => !moves.some((made) => atMs >= made.beganAtMs && atMs <= made.endedAtMs)),
    );
    expect(outside, 'nobody is closed between the moves').toEqual([]);
    expect([...new Set(workers.flatMap(({ ends }) => ends.map(({ server }) => server)))]).toEqual([serverName(old)]);
    await direct.close();
  }, 240_000);
});

function failedConnects(attempts: readonly Attempt[], workers: readonly WorkingSession[]): readonly FailedConnect[] {
  const failed = attempts.flatMap(({ startedAtMs, connectError: words }) =>
    words === undefined ? [] : [{ startedAtMs, words }],
  );
  return [...failed, ...workers.flatMap((worker) => worker.failedConnects)];
}
