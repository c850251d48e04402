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
  readonly legs: Legs;
  readonly clusterWithPointsman: (wanted?: Wanted<Options>) => ClusterWithPointsman<Cluster>;
}

/** Client to Pointsman, and Pointsman to member: both in plain text, or both with TLS, and then nothing without it. */
export type Legs = 'plain' | 'encrypted';

/** For tests that hold for both. */
export const BOTH_LEGS: readonly Legs[] = ['plain', 'encrypted'];
/** For long ones, each leg on one kind of cluster. */
export const ENCRYPTED_ON_PATRONI = { sandbox: ['plain'], Patroni: ['encrypted'] } as const;

export type SandboxLab = Lab<SandboxCluster, SandboxClusterOptions>;

function sandbox(legs: Legs): SandboxLab {
  const start = (options?: SandboxClusterOptions) => SandboxCluster.start({ ...options, tls: legs === 'encrypted' });
  return {
    kind: 'sandbox',
    legs,
    clusterWithPointsman: (wanted = {}) => clusterWithPointsman(() => start(wanted.cluster), wanted),
  };
}

function patroni(legs: Legs): Lab<PatroniCluster> {
  const start = (options?: ClusterOptions) => startPatroniCluster({ ...options, tls: legs === 'encrypted' });
  return {
    kind: 'Patroni',
    legs,
    clusterWithPointsman: (wanted = {}) => clusterWithPointsman(() => start(wanted.cluster), wanted),
  };
}

interface LegsByKind {
  readonly sandbox: readonly Legs[];
  readonly Patroni: readonly Legs[];
}

const PLAIN: LegsByKind = { sandbox: ['plain'], Patroni: ['plain'] };

/** The legs are plain unless told. */
export function describeOnEveryCluster(
  what: string | { readonly name: string; readonly legs: LegsByKind },
  define: (lab: Lab) => void,
): void {
  const { name, legs } = typeof what === 'string' ? { name: what, legs: PLAIN } : what;
  describeOnSandbox({ name, legs: legs.sandbox }, define);
  for (const one of legs.Patroni) describeOnPatroni(`${name}${said(one)}, on Patroni`, () => define(patroni(one)));
}

export function describeOnSandbox(
  what: string | { readonly name: string; readonly legs?: readonly Legs[] | undefined },
  define: (lab: SandboxLab) => void,
): void {
  if (!isWanted('sandbox')) return;
  const { name, legs = PLAIN.sandbox } = typeof what === 'string' ? { name: what } : what;
  for (const one of legs) {
    describeUnless(missingForSandbox, `${name}${said(one)}, on the sandbox`, () => define(sandbox(one)));
  }
}

function said(legs: Legs): string {
  return legs === 'plain' ? '' : ', encrypted on both legs';
}
