// Scenario 3: a planned switchover under 50 connects per second. Connects made during the gap wait and succeed on the new
// primary, no write gets a read-only error, no write reaches a member that is not primary.
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { clusterWithPointsman } from '../support/cluster-with-pointsman.ts';
import { CREATE_WRITES, startConnectLoad, WRITE_ROW } from '../support/connect-load.ts';
import {
  assertOnlyPrimariesWrote,
  cutByTheFault,
  failedAfter,
  firstWriteOn,
  median,
} from '../support/failover-figures.ts';
import { HeldSession } from '../support/held-session.ts';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';

const SWITCHOVERS = 7;
const MEDIAN_BOUND_MS = 150;

describeOnPatroni('a planned switchover under load', () => {
  const lab = clusterWithPointsman({ sql: CREATE_WRITES });

  it(`scenario 3: no connect fails, no read-only error, median under ${MEDIAN_BOUND_MS} ms over ${SWITCHOVERS}`, async () => {
    const port = await lab.pointsman.port('write');
    const delays: number[] = [];
    const cut: string[] = [];
    for (let round = 1; round <= SWITCHOVERS; round += 1) {
      await lab.cluster.waitUntilHealthy();
      const old = await lab.cluster.leader();
      const live = await connect(port);
      const direct = await HeldSession.open(old.port, lab.cluster.app, old.host);
      const load = startConnectLoad({ host: '127.0.0.1', port, ...lab.cluster.app, perSecond: 50, sql: WRITE_ROW });
      const floor = lab.cluster.watchFirstDirectWrite({ excluding: old.name });
      const next = await lab.cluster.switchover();
      const first = await floor.done;
      await lab.pointsman.waitFor('writes through Pointsman', () =>
        load.attempts.some((a) => a.server === `${next.host}:${next.port}`),
      );
      const attempts = await load.stop();

      // PostgreSQL ends its sessions when it begins to shut down: from then on nobody may fail.
      const beganAtMs = direct.endedAtMs;
      if (beganAtMs === undefined) throw new Error('the direct session outlived the switchover');
      expect(failedAfter(attempts, beganAtMs), lab.pointsman.explain()).toEqual([]);
      cut.push(...cutByTheFault(attempts, beganAtMs));
      expect(attempts.filter((attempt) => attempt.error?.startsWith('25006'))).toEqual([]);
      expect(attempts.filter((attempt) => attempt.connectError?.startsWith('57P03'))).toEqual([]);
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
      `switchover: first write through Pointsman after the first direct one, ms: ${delays.map(Math.round).join(' ')}, median ${Math.round(median(delays))}`,
    );
    console.log(
      `switchover: sessions that PostgreSQL cut as it shut down, of ${SWITCHOVERS}: ${cut.length} (${cut.join('; ')})`,
    );
    expect(median(delays)).toBeLessThan(MEDIAN_BOUND_MS);
  }, 240_000);

  async function connect(port: number): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port, ...lab.cluster.app });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** A live session is closed once, and its reconnect works at the first try. */
  async function expectClosedAndReconnects(live: Client, port: number, next: { host: string }): Promise<void> {
    await expect(live.query('select 1')).rejects.toThrow();
    const again = await connect(port);
    const { rows } = await again.query<{ host: string }>('select host(inet_server_addr()) as host');
    expect(rows[0]?.host).toBe(next.host);
    await again.end();
  }
});

/** Nothing that was acknowledged is missing: a planned switchover loses nothing. */
async function expectEveryRow(cluster: PatroniCluster, member: string, ids: readonly number[]): Promise<void> {
  const rows = await cluster.sql(member, `select count(*)::int as count from writes where id in (${ids.join(',')})`);
  expect(rows[0]?.['count']).toBe(ids.length);
}
