// A replica that returns gets its share of the sessions that are open already, and no client notices. Two workers.
import { expect, it } from 'vitest';
import { CounterReaders } from '../support/applications/counter-readers.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import { median } from '../support/values/median.ts';

const READERS = 20;
const SHARE = READERS / 2;
const TOLERANCE = 0.05 * READERS;
const LIMIT_MS = 60_000;

describeOnEveryCluster({ name: 'a replica that returns to open sessions', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const lab = on.clusterWithPointsman({
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return { ...movesConfig(cluster, directory.path), workers: 2, pools: { read: { check: '/replica' } } };
    },
    sql: `create table counter (n int); insert into counter values (0)`,
  });

  it('scenario 26: its share within 5 % in 60 s, without an error', { timeout: 4 * LIMIT_MS }, async () => {
    const { cluster, pointsman } = lab;
    const [away, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [away, other]);
    await cluster.kill(away.name);
    await waitForMembers(lab, 'read', [other]);
    const port = await pointsman.port('read');
    const readers = await CounterReaders.open(READERS, 'select n from counter', { port, ...cluster.app });
    try {
      await pointsman.waitFor('readers on the one that is left', () => readers.areOn(serverName(other)), LIMIT_MS);
      await cluster.start(away.name);
      await waitForMembers(lab, 'read', [away, other]);
      const returnedAt = performance.now();
      const count = (): number => readers.servers().filter((server) => server === serverName(away)).length;
      await pointsman.waitFor('its share', () => Math.abs(count() - SHARE) <= TOLERANCE, LIMIT_MS);
      const tookMs = Math.round(performance.now() - returnedAt);
      const figures = [median(readers.longestMs()), Math.max(...readers.longestMs())].map(Math.round).join(', ');
      console.log(
        `rebalance, on ${on.kind}: its share after ${tookMs} ms; longest answers, median and most: ${figures} ms`,
      );
      expect(readers.problems(), pointsman.explain()).toEqual([]);
    } finally {
      await readers.stop();
    }
    const moved = await pointsman.metric('pointsman_moves_total{pool="read",result="moved",reason="rebalance"}');
    expect(moved).toBeGreaterThanOrEqual(SHARE - TOLERANCE);
  });
});
