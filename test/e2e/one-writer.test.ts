// At most one server accepts writes. Many clients check it through a switchover, a host death and a frozen management
// API, behind which the old primary still accepts writes.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_KEYS, reigns, startUniqueWriters } from '../support/applications/unique-writers.ts';

const WRITERS = 20;
const EVERY_MS = 50;

describeOnEveryCluster('many writers through failovers', (on) => {
  const lab = on.clusterWithPointsman({ sql: CREATE_KEYS });

  it('G1, G2: no two servers acknowledge one key, and no server writes after its successor began', async () => {
    const { cluster, pointsman } = lab;
    const first = await cluster.leader();
    const writers = startUniqueWriters(WRITERS, await pointsman.port('write'), cluster.app, EVERY_MS);
    const written = (server: string) => writers.acknowledged.filter((row) => row.server === server).length;
    const writesOn = async (server: string) => {
      const before = written(server);
      await pointsman.waitFor(`writes on ${server}`, () => written(server) >= before + 3 * WRITERS, 90_000);
      return server;
    };
    const expected = [await writesOn(serverName(first))];

    const second = await cluster.switchover();
    expected.push(await writesOn(serverName(second)));
    await cluster.waitUntilHealthy();

    const afterDeath = cluster.watchFirstDirectWrite({ excluding: second.name });
    await cluster.kill(second.name);
    const third = (await afterDeath.done).member;
    expected.push(await writesOn(serverName(third)));
    await cluster.start(second.name);
    await cluster.waitUntilHealthy();

    const afterFreeze = cluster.watchFirstDirectWrite({ excluding: third.name });
    const before = writers.acknowledged.length;
    await cluster.freezeManager(third.name);
    const fourth = (await afterFreeze.done).member;
    expected.push(await writesOn(serverName(fourth)));
    const sinceThen = writers.acknowledged.slice(before).filter(({ server }) => server === serverName(fourth));
    const beganAt = Math.min(...sinceThen.map(({ atSeconds }) => atSeconds));
    const late = `select key from keys where server = '${serverName(third)}'
      and extract(epoch from at)::float8 > ${beganAt}`;
    const strays = await cluster.sql(third.name, late);
    await cluster.thawManager(third.name);
    await writers.stop();

    expect(reigns(writers.acknowledged), pointsman.explain()).toEqual(expected);
    const keys = writers.acknowledged.map(({ key }) => key);
    expect(new Set(keys).size, 'a key that was acknowledged twice').toBe(keys.length);
    // Writes under way to the old primary when its sessions ended: at most one per client, and none acknowledged.
    expect(strays.length).toBeLessThanOrEqual(WRITERS);
    expect(strays.filter(({ key }) => keys.includes(String(key)))).toEqual([]);
    expect(writers.errors.filter((error) => error.includes('read-only'))).toEqual([]);
  }, 300_000);
});
