// What most e2e tests need: a real Patroni cluster with Pointsman before it, for all tests of a describe block.
import { afterAll, beforeAll } from 'vitest';
import type { PatroniCluster } from './patroni/cluster.ts';
import type { ClusterOptions } from './patroni/settings.ts';
import { startPatroniCluster } from './patroni/start-cluster.ts';
import { configFor } from './pointsman-config.ts';
import type { ConfigOverrides } from './pointsman-config.ts';
import { startPointsman } from './pointsman-process.ts';
import type { PointsmanProcess } from './pointsman-process.ts';

export interface ClusterWithPointsman {
  readonly cluster: PatroniCluster;
  readonly pointsman: PointsmanProcess;
}

export interface Wanted {
  readonly cluster?: ClusterOptions;
  readonly pointsman?: ConfigOverrides;
  /** Run on the primary, as the application's user, before Pointsman starts. */
  readonly sql?: string;
}

/** Call inside describe; the parts are there from the first test on. Pointsman may not be ready yet. */
export function clusterWithPointsman(wanted: Wanted = {}): ClusterWithPointsman {
  let cluster: PatroniCluster | undefined;
  let pointsman: PointsmanProcess | undefined;
  beforeAll(async () => {
    cluster = await startPatroniCluster(wanted.cluster);
    if (wanted.sql !== undefined) await cluster.sql('pg-1', wanted.sql, { as: cluster.app });
    pointsman = await startPointsman(configFor(cluster, wanted.pointsman));
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
