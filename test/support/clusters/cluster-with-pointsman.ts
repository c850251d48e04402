// A cluster with Pointsman before it, for all tests of a describe block: most e2e tests need that.
import { afterAll, beforeAll } from 'vitest';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { configFor } from '../processes/pointsman-config.ts';
import type { ConfigOverrides } from '../processes/pointsman-config.ts';
import { startPointsman } from '../processes/pointsman-process.ts';
import type { PointsmanProcess } from '../processes/pointsman-process.ts';

export interface ClusterWithPointsman<Cluster extends ClusterUnderTest = ClusterUnderTest> {
  readonly cluster: Cluster;
  readonly pointsman: PointsmanProcess;
}

export interface PointsmanWanted {
  /** A function is called once, when the cluster is there. */
  readonly pointsman?: ConfigOverrides | ((cluster: ClusterUnderTest) => Promise<ConfigOverrides>);
  /** Run on the primary, as the application's user, before Pointsman starts. */
  readonly sql?: string;
}

/** Call inside describe; the parts are there from the first test on. Pointsman may not be ready yet. */
export function clusterWithPointsman<Cluster extends ClusterUnderTest>(
  startCluster: () => Promise<Cluster>,
  wanted: PointsmanWanted = {},
): ClusterWithPointsman<Cluster> {
  let cluster: Cluster | undefined;
  let pointsman: PointsmanProcess | undefined;
  beforeAll(async () => {
    cluster = await startCluster();
    if (wanted.sql !== undefined) {
      const { name } = await cluster.leader();
      await cluster.sql(name, wanted.sql, { as: cluster.app });
    }
    const overrides = typeof wanted.pointsman === 'function' ? await wanted.pointsman(cluster) : wanted.pointsman;
    pointsman = await startPointsman(configFor(cluster, overrides));
  });
  afterAll(async () => {
    await pointsman?.stop();
    await cluster?.destroy();
  });
  return {
    get cluster() {
      return there(cluster);
    },
    get pointsman() {
      return there(pointsman);
    },
  };
}

function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('used before beforeAll');
  return part;
}
