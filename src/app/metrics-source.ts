// Where the values of a scrape come from.
import type { CoreParts } from './reload.ts';
import type { OpenFilesStatus } from '../admin/status.ts';
import { MOST_STREAMS, type Streams } from '../admin/streams.ts';
import type { Config } from '../config/config.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { StatusSource } from '../telemetry/status-metrics.ts';

interface MetricsSourceOptions extends CoreParts {
  /** Default: none are lost. */
  readonly droppedLogLines?: () => number;
  readonly history: ClusterHistory;
  readonly openFiles: (config: Config) => OpenFilesStatus | undefined;
  readonly streams: Streams;
}

export function metricsSource(options: MetricsSourceOptions): StatusSource {
  const { clock, running, history, openFiles, monitor, proxy, streams } = options;
  return {
    history,
    now: () => clock.now(),
    wallClock: () => Date.now(),
    routingTable: () => monitor.table(),
    snapshot: () => monitor.snapshot(),
    counts: () => proxy.counts(),
    clients: () => proxy.clients(),
    pools: () => running.config.pools,
    limits: () => ({
      sessions: openFiles(running.config)?.mostSessions ?? running.config.client.maxSessions,
      handshakes: running.config.client.maxHandshakes,
      heldClients: running.config.hold.maxSessions,
      eventStreams: MOST_STREAMS,
    }),
    eventStreams: streams.size,
    refusals: () => monitor.refusedPrimaries().map(({ kind }) => kind),
    certificate: () => proxy.certificate(),
    workers: () => proxy.workers(),
    configLoadedAt: () => running.loadedAt,
    hasMoves: () => running.config.moves !== undefined,
    branches: () => running.branches?.status(),
    droppedLogLines: options.droppedLogLines ?? (() => 0),
  };
}
