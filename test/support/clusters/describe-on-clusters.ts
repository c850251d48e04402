// describe() for scenarios that need a cluster: on the sandbox, where its npm package is installed, and on real
// Patroni, where that is installed. The tests get a lab that starts the kind of cluster for which they are registered.
import { clusterWithPointsman, type ClusterWithPointsman, type PointsmanWanted } from './cluster-with-pointsman.ts';
import type { PatroniCluster } from '../patroni/cluster.ts';
import { describeOnPatroni } from '../patroni/describe-on-patroni.ts';
import { startPatroniCluster } from '../patroni/start-cluster.ts';
import type { ClusterOptions } from '../patroni/settings.ts';
import { describeUnless } from '../runner/unless-missing.ts';
import { isWanted } from '../runner/wanted-clusters.ts';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { missingForSandbox } from '../runner/sandbox-availability.ts';
import { SandboxCluster, type SandboxClusterOptions } from './sandbox-cluster.ts';

export interface Wanted<Options> extends PointsmanWanted {
  readonly cluster?: Options;
}

export interface Lab<Cluster extends ClusterUnderTest = ClusterUnderTest, Options = ClusterOptions> {
  readonly kind: 'sandbox' | 'Patroni';
  readonly clusterWithPointsman: (wanted?: Wanted<Options>) => ClusterWithPointsman<Cluster>;
}

const sandbox: Lab<SandboxCluster, SandboxClusterOptions> = {
  kind: 'sandbox',
  clusterWithPointsman: (wanted = {}) => clusterWithPointsman(() => SandboxCluster.start(wanted.cluster), wanted),
};

const patroni: Lab<PatroniCluster> = {
  kind: 'Patroni',
  clusterWithPointsman: (wanted = {}) => clusterWithPointsman(() => startPatroniCluster(wanted.cluster), wanted),
};

export function describeOnEveryCluster(name: string, define: (lab: Lab) => void): void {
  describeOnSandbox(name, define);
  describeOnPatroni(`${name}, on Patroni`, () => define(patroni));
}

export function describeOnSandbox(name: string, define: (lab: typeof sandbox) => void): void {
  if (isWanted('sandbox')) describeUnless(missingForSandbox, `${name}, on the sandbox`, () => define(sandbox));
}
