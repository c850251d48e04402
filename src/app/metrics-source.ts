// Where the values of a scrape come from.
import type { Admin } from '../admin/admin-server.ts';
import type { OpenFilesStatus } from '../admin/status.ts';
import { MOST_STREAMS } from '../admin/streams.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../model/instant.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';
import type { StatusSource } from '../telemetry/status-metrics.ts';
import type { RunningParts } from './reload.ts';

interface ProcessOptions {
  readonly clock: Clock;
  /** Default: none are lost. */
  readonly droppedLogLines?: () => number;
}

interface MetricsParts {
  readonly running: RunningParts;
  readonly openFiles: (config: Config) => OpenFilesStatus | undefined;
  /** Called at the scrape. */
  readonly parts: () => { readonly monitor: Monitor; readonly proxy: Proxy; readonly admin: Admin };
}

export function metricsSource(
  { clock, droppedLogLines }: ProcessOptions,
  { running, openFiles, parts }: MetricsParts,
): StatusSource {
  return {
    now: () => clock.now(),
    wallClock: () => Date.now(),
    routingTable: () => parts().monitor.table(),
    snapshot: () => parts().monitor.snapshot(),
    counts: () => parts().proxy.counts(),
    clients: () => parts().proxy.clients(),
    pools: () => running.config.pools,
    limits: () => ({
      sessions: openFiles(running.config)?.mostSessions ?? running.config.client.maxSessions,
      handshakes: running.config.client.maxHandshakes,
      heldClients: running.config.hold.maxSessions,
      eventStreams: MOST_STREAMS,
    }),
    eventStreams: () => parts().admin.eventStreams(),
    refusals: () =>
      parts()
        .monitor.refusedPrimaries()
        .map(({ kind }) => kind),
    certificate: () => parts().proxy.certificate(),
    workers: () => parts().proxy.workers(),
    configLoadedAt: () => running.loadedAt,
    hasMoves: () => running.config.moves !== undefined,
    branches: () => running.branches?.status(),
    droppedLogLines: droppedLogLines ?? (() => 0),
  };
}
