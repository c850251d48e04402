// Scenario 6: the primary's host dies, and its API and its PostgreSQL refuse. Sessions end at once. Pointsman holds new
// clients, and their connects succeed after the promotion.
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { rounds } from '../support/runner/ci.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import { assertOnlyPrimariesWrote, firstWriteOn, GENEROUS_MS } from '../support/applications/failover-figures.ts';
import { median } from '../support/values/median.ts';
import { monotonicMs } from '../support/waiting/wait.ts';

const DEATHS = rounds(1, 2);
/** A failover's worth of held clients stays below PostgreSQL's max_connections. */
const CONNECTS_PER_SECOND = 4;

describeOnEveryCluster("the death of the primary's host", (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_WRITES });

  it('scenario 6: held clients succeed without a reconnect, as soon as a primary is known', async () => {
    const port = await lab.pointsman.port('write');
    const delays: number[] = [];
    for (let round = 1; round <= DEATHS; round += 1) {
      await lab.cluster.waitUntilHealthy();
      const old = await lab.cluster.leader();
      const live = new Client({ host: '127.0.0.1', port, ...lab.cluster.app });
      const ended = new Promise<number>((resolve) => live.on('error', () => resolve(monotonicMs())));
      await live.connect();
      const floor = lab.cluster.watchFirstDirectWrite({ excluding: old.name });
      const killedAtMs = monotonicMs();
      await lab.cluster.kill(old.name);
      const load = startConnectLoad({
        host: '127.0.0.1',
        port,
        ...lab.cluster.app,
        perSecond: CONNECTS_PER_SECOND,
        sql: WRITE_ROW,
      });
      expect(await ended, 'the live session ends with its server').toBeLessThan(killedAtMs + GENEROUS_MS);
      const first = await floor.done;
      const next = first.member;
      await lab.pointsman.waitFor('writes through Pointsman', () =>
        load.attempts.some((a) => a.server === serverName(next)),
      );
      const attempts = await load.stop();

      expect(
        attempts.flatMap((attempt) => attempt.error ?? []),
        lab.pointsman.explain(),
      ).toEqual([]);
      const [earliest] = attempts.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
      expect(earliest, 'the first client after the death waits for the next primary').toMatchObject({
        server: serverName(next),
      });
      assertOnlyPrimariesWrote(attempts, old, next);
      delays.push(firstWriteOn(attempts, next) - first.atMs);
      await lab.cluster.start(old.name);
    }
    console.log(
      `host death on ${on.kind}: first write through Pointsman after the first direct one, ms: ` +
        `${delays.map(Math.round).join(' ')}, median ${Math.round(median(delays))}`,
    );
    expect(median(delays)).toBeLessThan(GENEROUS_MS);
  }, 420_000);
});
