// Reload: a new configuration for running parts. Everything that can fail comes first. Then every part changes
// synchronously, so that no part sees half of it (G15). Settings that need a restart are reported and stay as they are.
import { isDeepStrictEqual } from 'node:util';
import type { DirectoryView } from './branch-report.ts';
import type { RunningBranches } from './running-branches.ts';
import { sessionPools } from './session-pools.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { reconfigured } from '../config/changes.ts';
import type { Config } from '../config/config.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { LoadResult } from '../config/load.ts';
import { formatProblems } from '../config/fault.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { ListenerChanges } from '../proxy/accept/listeners.ts';
import type { ReloadEvent } from '../reports/events.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';
import type { Clock } from '../model/instant.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** The values that a reload replaces. Every part reads them here when it needs them. */
export interface InForce {
  config: Config;
  access: ClusterAccess;
  /** Absent: no branches are configured. */
  branches?: DirectoryView | undefined;
  /** When `config` was loaded. Milliseconds since 1970. */
  loadedAt: number;
}

/** The parts that route, as the others see them. */
export interface CoreParts {
  readonly clock: Clock;
  readonly running: InForce;
  readonly monitor: Monitor;
  readonly proxy: Proxy;
}

export interface ReloadOptions extends CoreParts {
  readonly isStopping: () => boolean;
  readonly connect: (cluster: ClusterConfig) => ClusterAccess;
  readonly branches: RunningBranches;
  readonly metrics: Pick<Metrics, 'learn'>;
  readonly onEvent: (event: ReloadEvent) => void;
  readonly log: Pick<Log, 'level'>;
  readonly onListeners: (changes: ListenerChanges) => void;
}

export type ReloadResult =
  /** `needsRestart`: changes that were not applied. */
  | { readonly kind: 'reloaded'; readonly changed: readonly string[]; readonly needsRestart: readonly string[] }
  /** Nothing changed. */
  | { readonly kind: 'failed'; readonly problems: readonly string[] };

/** One reload at a time. */
export async function reload(options: ReloadOptions, loaded: LoadResult): Promise<ReloadResult> {
  const { running, isStopping, proxy, onEvent } = options;
  const failed = (...problems: readonly string[]): ReloadResult => {
    onEvent({ kind: 'config_reload_failed', problems });
    return { kind: 'failed', problems };
  };
  if (isStopping()) return failed('shutting down');
  if (loaded.kind === 'invalid') return failed(...formatProblems(loaded.problems).split('\n'));
  const { config, changed, needsRestart } = reconfigured(running.config, loaded.config);
  const scoped = config.pools.find(({ causalReads }) => causalReads?.scope === 'proxy');
  if (scoped !== undefined && config.workers !== 1) {
    const scope = `pools.${scoped.name}.causal_reads.scope: proxy needs workers: 1`;
    return failed(`${scope}, and workers changes with a restart alone: restart, or use scope: cluster`);
  }
  const why = await options.branches.prepare(config.branches);
  if (why !== undefined) return failed(why);
  const prepared = await proxy.prepare(config);
  if (prepared.kind === 'failed') return failed(prepared.message);
  if (isStopping()) {
    prepared.abandon();
    return failed('shutting down');
  }
  apply(options, config, prepared.apply);
  onEvent({ kind: 'config_reloaded', changed, needsRestart });
  return { kind: 'reloaded', changed, needsRestart };
}

/** In this order: the proxy knows new pools before the table has them, and discovery has new rules before it runs. */
function apply(options: ReloadOptions, config: Config, applyToProxy: () => ListenerChanges): void {
  const { running, connect, monitor, branches, metrics, log, onListeners } = options;
  const isSameCluster = isDeepStrictEqual(running.config.cluster, config.cluster);
  running.config = config;
  running.loadedAt = Date.now();
  log.level = config.log.level;
  metrics.learn(sessionPools(config));
  branches.apply(config.branches);
  onListeners(applyToProxy());
  monitor.reconfigure(config);
  if (isSameCluster) return;
  running.access.close();
  running.access = connect(config.cluster);
  monitor.rediscover();
}
