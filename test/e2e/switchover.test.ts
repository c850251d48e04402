// Scenario 3: a planned switchover under load. Connects made during the gap wait and succeed on the new primary, no
// write gets a read-only error, and no write reaches a member that is not the primary.
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { rounds } from '../support/runner/ci.ts';
import type { ClusterUnderTest } from '../support/patroni/cluster-under-test.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { SERVER_NAME, type Server, serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import {
  assertOnlyPrimariesWrote,
  cutByTheFault,
  failedAfter,
  firstWriteOn,
  GENEROUS_MS,
} from '../support/applications/failover-figures.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { median } from '../support/values/median.ts';

const SWITCHOVERS = { sandbox: rounds(2, 3), Patroni: rounds(2, 5) };

describeOnEveryCluster('a planned switchover under load', (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_WRITES });
  const switchovers = SWITCHOVERS[on.kind];

  it('scenario 3: no connect fails, no read-only error, and sessions open on the next primary at once', async () => {
    const port = await lab.pointsman.port('write');
    const delays: number[] = [];
    const cut: string[] = [];
    for (let round = 1; round <= switchovers; round += 1) {
      await lab.cluster.waitUntilHealthy();
      const old = await lab.cluster.leader();
      const live = await connect(port);
      const direct = await HeldSession.open(old.port, lab.cluster.app, old.host);
      const load = startConnectLoad({ host: '127.0.0.1', port, ...lab.cluster.app, perSecond: 50, sql: WRITE_ROW });
      const floor = lab.cluster.watchFirstDirectWrite({ excluding: old.name });
      const next = await lab.cluster.switchover();
      const first = await floor.done;
      await lab.pointsman.waitFor('writes through Pointsman', () =>
        load.attempts.some((a) => a.server === serverName(next)),
      );
      const attempts = await load.stop();

      // PostgreSQL ends its sessions when it begins to shut down: from then on no attempt may fail.
      const beganAtMs = direct.endedAtMs;
      if (beganAtMs === undefined) throw new Error('the direct session outlived the switchover');
      expect(failedAfter(attempts, beganAtMs), lab.pointsman.explain()).toEqual([]);
      cut.push(...cutByTheFault(attempts, beganAtMs));
      expect(attempts.filter((attempt) => attempt.error?.startsWith('25006'))).toEqual([]);
      // A server that shuts down ends logins without a message. They count as cut, and Pointsman sends 57P03 for them.
      const refused = attempts.flatMap(({ connectError }) => (connectError?.startsWith('57P03') ? [connectError] : []));
      expect(refused.filter((error) => !error.includes('(backend_'))).toEqual([]);
      assertOnlyPrimariesWrote(attempts, old, next);
      await expectEveryRow(
        lab.cluster,
        next.name,
        attempts.flatMap((attempt) => attempt.rowId ?? []),
      );
      await expectClosedAndReconnects(live, port, next);
      delays.push(firstWriteOn(attempts, next) - first.atMs);
    }
    console.log(
      `switchover on ${on.kind}: first write through Pointsman after the first direct one, ms: ` +
        `${delays.map(Math.round).join(' ')}, median ${Math.round(median(delays))}`,
    );
    console.log(
      `switchover on ${on.kind}: sessions that PostgreSQL cut as it shut down, of ${switchovers}: ` +
        `${cut.length} (${cut.join('; ')})`,
    );
    expect(median(delays)).toBeLessThan(GENEROUS_MS);
  }, 240_000);

  async function connect(port: number): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port, ...lab.cluster.app });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** A live session is closed once, and its first reconnect works. */
  async function expectClosedAndReconnects(live: Client, port: number, next: Server): Promise<void> {
    await expect(live.query('select 1')).rejects.toThrow();
    const again = await connect(port);
    const { rows } = await again.query<{ server: string }>(`select ${SERVER_NAME} as server`);
    expect(rows[0]?.server).toBe(serverName(next));
    await again.end();
  }
});

/** A planned switchover loses no acknowledged row. */
async function expectEveryRow(cluster: ClusterUnderTest, member: string, ids: readonly number[]): Promise<void> {
  const rows = await cluster.sql(member, `select count(*)::int as count from writes where id in (${ids.join(',')})`);
  expect(rows[0]?.['count']).toBe(ids.length);
}
