// POST /restart of the primary's PostgreSQL: it stays the primary. New clients wait and succeed on it, about as soon as
// a client that connects directly.
import { expect, it } from 'vitest';
import { rounds } from '../support/runner/ci.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import { failedAfter, GENEROUS_MS } from '../support/applications/failover-figures.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { median } from '../support/values/median.ts';

const RESTARTS = rounds(2, 3);

describeOnEveryCluster('a restart of the primary in place', (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_WRITES });

  it('scenario 5: clients wait for the same primary, no connect fails, and sessions open again at once', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('write');
    const delays: number[] = [];
    for (let round = 1; round <= RESTARTS; round += 1) {
      await cluster.waitUntilHealthy();
      const primary = await cluster.leader();
      const direct = await HeldSession.open(primary.port, cluster.app, primary.host);
      const load = startConnectLoad({
        host: '127.0.0.1',
        port,
        ...cluster.app,
        perSecond: 10,
        sql: WRITE_ROW,
      });
      await pointsman.waitFor('writes before', () => load.attempts.some(({ server }) => server !== undefined));
      const restarted = cluster.restart(primary.name);
      await pointsman.waitFor('the end of the direct session', () => direct.endedAtMs !== undefined);
      const first = await cluster.watchFirstDirectWrite().done;
      const isServed = (): boolean =>
        load.attempts.some(({ server, endedAtMs }) => server !== undefined && endedAtMs > first.atMs);
      await pointsman.waitFor('writes through Pointsman', isServed);
      await restarted;
      const attempts = await load.stop();
      const endedAtMs = direct.endedAtMs ?? Number.NaN;
      expect(failedAfter(attempts, endedAtMs), pointsman.explain()).toEqual([]);
      const after = attempts.filter(({ startedAtMs, server }) => startedAtMs > endedAtMs && server !== undefined);
      expect(new Set(after.map(({ server }) => server))).toEqual(new Set([serverName(primary)]));
      delays.push(Math.min(...after.map((attempt) => attempt.endedAtMs)) - first.atMs);
    }
    console.log(
      `restart in place on ${on.kind}: first write through Pointsman after the first direct one, ms: ` +
        `${delays.map(Math.round).join(' ')}, median ${Math.round(median(delays))}`,
    );
    expect(median(delays)).toBeLessThan(GENEROUS_MS);
  }, 240_000);
});
