// All three servers restart one after the other under load: each is drained, restarted and resumed, replicas first. The
// drained primary hands over and then restarts as a replica. A "move" takes sessions from one member.
// - No connect fails: clients of the primary wait from its drain until the next primary is proven.
// - Pointsman closes a session at most once per move, and between two transactions: a drain waits for that.
import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES, READ_ROW, WRITE_ROW, type Attempt } from '../support/applications/connect-load.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { monotonicMs } from '../support/waiting/wait.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { ReconnectingClients } from '../support/applications/reconnecting-clients.ts';
import { type FailedConnect, WorkingSession } from '../support/applications/working-session.ts';

const CLIENTS_EACH = 50;
const SESSIONS_EACH = 25;
const DRAINED_WITHIN_MS = 40_000;
const TOKEN = 'rolling-restart-of-all';
const POINTSMAN_WORDS = /^57P01 pointsman: /;

const status = z.looseObject({
  pools: z.array(z.looseObject({ sessions: z.looseObject({ by_member: z.record(z.string(), z.number()) }) })),
});

interface Move {
  readonly what: string;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

describeOnEveryCluster({ name: 'a rolling restart', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const lab = on.clusterWithPointsman({
    sql: CREATE_WRITES,
    pointsman: { admin: { address: '127.0.0.1:0', token: TOKEN } },
  });
  const moves: Move[] = [];

  async function move(what: string, readers: readonly WorkingSession[], act: () => Promise<void>): Promise<void> {
    const beganAtMs = monotonicMs();
    await act();
    // Readers that the primary serves meanwhile leave it a moment after the pool has its own members again. They came
    // to it by the fallback, or were there when it was promoted.
    const primary = serverName(await lab.cluster.leader());
    await lab.pointsman.waitFor('no reader on the primary', () =>
      readers.every(({ server }) => server !== undefined && server !== primary),
    );
    moves.push({ what, beganAtMs, endedAtMs: monotonicMs() });
  }

  /** The number of client sessions, as the server itself reports it. It has no sessions that are still logging in. */
  async function sessionsOn({ name }: MemberAddress): Promise<number> {
    const text = `select count(*)::int as count from pg_stat_activity where usename = '${lab.cluster.app.user}'`;
    const [row] = await lab.cluster.sql(name, text);
    return Number(row?.['count']);
  }

  /** No session of Pointsman is there or logs in there: what `pointsman drain --wait` waits for. */
  async function isLeft({ name }: MemberAddress): Promise<boolean> {
    const { pools } = status.parse(JSON.parse((await lab.pointsman.admin('/status')).text));
    return pools.every(({ sessions }) => (sessions.by_member[name] ?? 0) === 0);
  }

  async function drain(member: MemberAddress): Promise<void> {
    await lab.pointsman.operate(`/members/${member.name}/drain`, TOKEN);
    await lab.pointsman.waitFor('the drain', () => isLeft(member), DRAINED_WITHIN_MS);
    await lab.pointsman.waitFor('no session', async () => (await sessionsOn(member)) === 0, DRAINED_WITHIN_MS);
  }

  async function restart(member: MemberAddress): Promise<void> {
    await lab.cluster.restart(member.name);
    await lab.pointsman.operate(`/members/${member.name}/resume`, TOKEN);
    await waitForMembers(lab, 'read', await replicasOf(lab.cluster));
  }

  it('fails no connect, and ends each session at most once per move and between two transactions', async () => {
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
    const reading = sessions.slice(SESSIONS_EACH);
    const areAtWork = (): boolean => sessions.every(({ server }) => server !== undefined);
    await pointsman.waitFor('every session at work', areAtWork);

    for (const replica of replicas) {
      await move(`restart of ${replica.name}`, reading, async () => {
        await drain(replica);
        await restart(replica);
      });
    }
    await move('handover', reading, async () => {
      await drain(old);
      await cluster.switchover();
      await cluster.waitUntilHealthy();
      await pointsman.waitFor('every session at work again', areAtWork);
    });
    await move(`restart of ${old.name}`, reading, () => restart(old));
    await pointsman.waitFor('every session at work at the end', areAtWork);
    const attempts = [...(await writers.stop()), ...(await readers.stop())];
    await Promise.all(sessions.map((session) => session.stop()));

    expect(failedConnects(attempts, sessions), pointsman.explain()).toEqual([]);
    for (const { what, beganAtMs, endedAtMs } of moves) {
      const closes = sessions.map(({ ends }) => ends.filter((end) => end.atMs >= beganAtMs && end.atMs <= endedAtMs));
      console.log(
        `rolling restart on ${on.kind}, ${what}: ${closes.flat().length} of ${sessions.length} sessions closed`,
      );
      expect(Math.max(...closes.map((ends) => ends.length)), what).toBeLessThanOrEqual(1);
    }
    const ends = sessions.flatMap((session) => session.ends);
    expect(
      ends.filter(({ inTransaction, words }) => inTransaction || !POINTSMAN_WORDS.test(words)),
      'ended by Pointsman, between two transactions',
    ).toEqual([]);
    const outside = ends.filter(({ atMs }) => !moves.some((made) => atMs >= made.beganAtMs && atMs <= made.endedAtMs));
    expect(outside, 'nobody is closed between the moves').toEqual([]);
    const writing = sessions.slice(0, SESSIONS_EACH).flatMap((session) => session.ends.map(({ server }) => server));
    expect(writing).toEqual(Array.from({ length: SESSIONS_EACH }, () => serverName(old)));
  }, 240_000);
});

function failedConnects(attempts: readonly Attempt[], workers: readonly WorkingSession[]): readonly FailedConnect[] {
  const failed = attempts.flatMap(({ startedAtMs, connectError: words }) =>
    words === undefined ? [] : [{ startedAtMs, words }],
  );
  return [...failed, ...workers.flatMap((worker) => worker.failedConnects)];
}
