// A scheduled switchover: new clients of the primary wait from shortly before it, and get the next primary. Live
// sessions go on until PostgreSQL ends them. `pointsman switchover --fleet` is one, for several Pointsmen with moves.
import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { cancelRequestOf } from '../support/applications/cancel-key.ts';
import { startConnectLoad } from '../support/applications/connect-load.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import { Command } from '../support/processes/command.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../support/processes/pointsman-process.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { SERVER_NAME, serverName } from '../support/clusters/server-name.ts';
import { findFreePorts } from '../support/sockets/free-ports.ts';
import { connectRaw } from '../support/sockets/raw-client.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';
import { until } from '../support/waiting/until.ts';

const BEFORE_MS = 3000;
const POINTSMEN = 3;
/** At each Pointsman. */
const IDLE = 5;
/** At each Pointsman. More would take a whole core where a server process takes 50 ms: the cluster has no time then. */
const CONNECTS_PER_SECOND = 1;
/** Longer than a cancel takes, and shorter than the test: a cancel that is lost says so. */
const SLEEP = 'select pg_sleep(30)';
const SLEEPERS = `select count(*)::int as n from pg_stat_activity where query = '${SLEEP}' and state = 'active'`;

describeOnEveryCluster({ name: 'a scheduled switchover', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const closings: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
  });
  const lab = on.clusterWithPointsman({
    pointsman: {
      admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
      hold: { before_switchover: `${BEFORE_MS}ms` },
    },
  });

  it('scenario 3: new clients wait from shortly before a scheduled one, and the next primary serves them', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('write');
    await pointsman.waitUntilReady();
    const old = await cluster.leader();
    const live = await connect(port);
    const atMs = Date.now() + 7000;
    await schedule(old, atMs);
    await refresh();
    const heldAtMs = await pointsman.waitFor('clients held for the switchover', () => {
      const line = pointsman.lines.find(
        ({ event, msg }) => event === 'route_changed' && String(msg).includes('a switchover is due or running'),
      );
      return line && Date.parse(String(line['time']));
    });
    expect(heldAtMs, 'before its time').toBeLessThan(atMs);
    const held = connect(port);
    await pointsman.waitFor(
      'the held client',
      async () => (await pointsman.metric('pointsman_held_clients{pool="write"}')) === 1,
    );
    const { rows } = await live.query<{ server: string }>(`select ${SERVER_NAME} as server`);
    expect(rows[0]?.server, 'a live session stays').toBe(serverName(old));

    const client = await held;
    const served = await client.query<{ server: string }>(
      `insert into direct_writes (member) values ('held') returning ${SERVER_NAME} as server`,
    );
    const next = await cluster.leader();
    expect(next.name).not.toBe(old.name);
    expect(served.rows[0]?.server).toBe(serverName(next));
    await client.end();
    await live.end().catch(() => undefined);
  });

  // On Patroni alone: half a minute.
  if (on.kind === 'Patroni') {
    it(
      'G17, G22: one switchover --fleet before three Pointsmen: no connect fails, no idle session ends, cancels arrive',
      { timeout: 150_000 },
      async () => {
        const { cluster } = lab;
        await waitForCandidates(lab);
        await prepareDatabase(cluster);
        const old = await cluster.leader();
        const ports = await findFreePorts(POINTSMEN, ['127.0.0.1']);
        const fleet = await Promise.all(ports.map((port) => onePointsman(port, ports)));
        const idle = await Promise.all(
          ports.flatMap((port) => Array.from({ length: IDLE }, () => HeldSession.open(port, cluster.app))),
        );
        closings.push(() => Promise.all(idle.map((session) => session.close())));
        await Promise.all(idle.map(({ client }, index) => client.query(`set work_mem = '${index + 1}MB'`)));
        for (const by of [1, 2]) await cancelElsewhere(idle, ports, by);
        const sql = "insert into direct_writes (member) values ('fleet')";
        const loads = ports.map((port) =>
          startConnectLoad({ host: '127.0.0.1', port, ...cluster.app, sql, perSecond: CONNECTS_PER_SECOND }),
        );
        closings.push(() => Promise.all(loads.map((load) => load.stop())));

        const admin = `127.0.0.1:${(await fleet[0]?.port('admin')) ?? 0}`;
        const command = new Command(['switchover', '--fleet', '--admin', admin, '--yes'], {
          POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN,
        });
        closings.push(() => command.stop());
        const code = await command.ended().catch((error: unknown) => {
          throw new Error([error, ...fleet.flatMap(storyOf)].join('\n'));
        });
        expect([code, command.output]).toEqual([0, expect.stringMatching(/^done: /m)]);
        const next = await cluster.leader();
        expect(next.name).not.toBe(old.name);
        const states = await Promise.all(
          idle.map(async ({ client }) => {
            const { rows } = await client.query<{ memory: string; server: string }>(
              `select current_setting('work_mem') as memory, ${SERVER_NAME} as server`,
            );
            return rows[0];
          }),
        );
        expect(states).toEqual(idle.map((_, index) => ({ memory: `${index + 1}MB`, server: serverName(next) })));
        const attempts = (await Promise.all(loads.map((load) => load.stop()))).flat();
        const longest = Math.max(...attempts.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs));
        console.log(`${attempts.length} connects, the longest ${Math.round(longest)} ms\n${command.output}`);
        expect(attempts.flatMap(({ connectError, error }) => connectError ?? error ?? [])).toEqual([]);
        for (const by of [1, 2]) await cancelElsewhere(idle, ports, by);
        const byPeers = await Promise.all(
          fleet.map((one) => one.metric('pointsman_cancels_forwarded_total{pool="write",key="peer"}')),
        );
        expect(byPeers, 'each passes its part on').toEqual(ports.map(() => 4 * IDLE));
        for (const one of fleet) {
          expect(one.lines.filter(({ event }) => event === 'session_parked').length).toBeGreaterThanOrEqual(IDLE);
        }
      },
    );
  }

  /** Each session's own statement ends, by a request at the Pointsman that is `by` places further. */
  async function cancelElsewhere(
    sessions: readonly HeldSession[],
    ports: readonly number[],
    by: number,
  ): Promise<void> {
    const ends = sessions.map(({ client }) =>
      client.query(SLEEP).then(
        () => 'no cancel',
        (error: { readonly code?: string }) => error.code,
      ),
    );
    const { name } = await lab.cluster.leader();
    const areAsleep = async (): Promise<boolean> => {
      const [row] = await lab.cluster.sql(name, SLEEPERS);
      return Number(row?.['n']) === sessions.length;
    };
    await lab.cluster.waitUntil('the statements', areAsleep, 20_000);
    const cancels = sessions.map(async ({ client }, index) => {
      const port = ports[(Math.floor(index / IDLE) + by) % POINTSMEN] ?? 0;
      const canceller = await connectRaw({ host: '127.0.0.1', port });
      canceller.socket.end(cancelRequestOf(client));
      await until('the end of a cancel', () => canceller.hasEnded || canceller.isClosed, 10_000);
      canceller.socket.destroy();
    });
    await Promise.all(cancels);
    expect(await Promise.all(ends)).toEqual(sessions.map(() => '57014'));
  }

  async function onePointsman(port: number, ports: readonly number[]): Promise<PointsmanProcess> {
    // Longer than a busy machine needs for a login that has begun.
    const hold = { before_switchover: '10s', client_timeout: '60s', outage_timeout: '60s' };
    const one = await startPointsman(
      configFor(lab.cluster, {
        ...movesConfig(lab.cluster, directory.path),
        listeners: [{ address: `127.0.0.1:${port}`, pool: 'write' }],
        peers: ports.map((peer) => `127.0.0.1:${peer}`),
        hold,
      }),
    );
    closings.push(() => one.stop());
    await one.waitUntilReady();
    return one;
  }

  async function connect(port: number): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port, ...lab.cluster.app });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Discovery reads the document every ten seconds, and at once after this request. */
  async function refresh(): Promise<void> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${await lab.pointsman.port('admin')}/refresh`;
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(200);
  }
});

/** For a failure: the events that tell why sessions of this Pointsman wait. */
function storyOf(one: PointsmanProcess): readonly string[] {
  const about = ['route_changed', 'dial_finished', 'move_attempt_failed', 'session_parked', 'session_moved'];
  const told = one.lines.filter(({ event }) => about.includes(String(event)));
  return told.map(({ time, msg }) => `${String(time)} ${one.pid}: ${String(msg)}`);
}

async function schedule(leader: MemberAddress, atMs: number): Promise<void> {
  const body = JSON.stringify({ leader: leader.name, scheduled_at: new Date(atMs).toISOString() });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${leader.api}/switchover`, { method: 'POST', headers, body });
  expect([response.status, await response.text()]).toEqual([202, expect.any(String)]);
}
