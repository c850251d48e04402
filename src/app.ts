// The composition root: who talks to whom. Makes the parts from a configuration and hands each what it needs as functions; no part
// knows this file, and no decision is taken here.
import { createAdmin } from './admin/server.ts';
import type { Admin } from './admin/server.ts';
import { buildStatus } from './admin/status.ts';
import type { Readiness, StatusDocument } from './admin/status.ts';
import type { Config } from './config/config.ts';
import type { Clock } from './core/instant.ts';
import { createDiscovery } from './discovery/discover.ts';
import { Monitor } from './monitor/monitor.ts';
import { createProbe } from './patroni/probe.ts';
import { createReader } from './patroni/read-documents.ts';
import { tlsFromFiles } from './patroni/tls-files.ts';
import { createProxy } from './proxy/proxy.ts';
import type { Proxy } from './proxy/proxy.ts';
import { systemClock } from './system-clock.ts';
import type { Log } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createRecorder } from './telemetry/record.ts';

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  readonly nodeVersion: string;
  readonly clock?: Clock;
}

export type Started = { readonly kind: 'started' } | { readonly kind: 'failed'; readonly why: string };

export interface App {
  /** Binds every address or none, then begins to watch the cluster. */
  start(): Promise<Started>;
  /** Not ready from now on; listens for `shutdown.grace`, drains for `shutdown.drain`, then ends. Resolves when all is closed. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  stop(): Promise<void>;
}

export function createApp(options: AppOptions): App {
  const { config, log, clock = systemClock } = options;
  const startedAt = clock.now();
  let isStopping = false;
  const { tls: files, dialect } = config.cluster.api;
  const tls = files === undefined ? undefined : tlsFromFiles(files);
  const { readCluster } = createReader({ tls, dialect });
  const discovery = createDiscovery({ cluster: config.cluster, readCluster, clock });

  const metrics = createMetrics({
    ...options,
    pools: config.pools.map((pool) => pool.name),
    source: {
      now: () => clock.now(),
      routingTable: () => monitor.table(),
      counts: () => proxy.counts(),
      lastAnswerAt: (member) => monitor.snapshot().members.get(member)?.answeredAt,
    },
  });
  const recorder = createRecorder({ log, count: metrics.count });

  const monitor: Monitor = new Monitor({
    policy: config,
    scope: config.cluster.scope,
    probe: createProbe({ tls }),
    discover: (from) => discovery.discover(from),
    clock,
    wallClock: () => Date.now(),
    random: Math.random,
    onTable: (actions) => proxy.tableChanged(actions),
    onEvent: recorder.onMonitorEvent,
  });
  const proxy = createProxy({
    ...config,
    table: () => monitor.table(),
    freshen: (pool) => monitor.freshen(pool),
    onSmell: (smell) => monitor.smell(smell),
    onEvent: recorder.onProxyEvent,
    clock,
    random: Math.random,
  });

  const readiness = (): Readiness => {
    if (isStopping) return { ready: false, why: 'shutting down' };
    if (!monitor.table().complete) return { ready: false, why: 'the first round of probes is not complete' };
    return { ready: true };
  };
  const status = (): StatusDocument =>
    buildStatus({
      version: options.version,
      startedAt,
      now: clock.now(),
      readiness: readiness(),
      pools: config.pools,
      table: monitor.table(),
      snapshot: monitor.snapshot(),
      counts: proxy.counts(),
    });
  const { text, contentType } = metrics;
  const admin = createAdmin({ ...config.admin, status, readiness, metrics: text, metricsContentType: contentType });

  const stop = async (): Promise<void> => {
    isStopping = true;
    proxy.close();
    monitor.stop();
    await admin.close();
  };
  return {
    async start() {
      const started = await listenAll(admin, proxy, log);
      if (started.kind === 'failed') await stop();
      else monitor.start();
      return started;
    },
    async drain() {
      isStopping = true;
      await new Promise<void>((resolve) => clock.schedule(config.shutdown.graceMs, resolve));
      proxy.stopAccepting();
      await proxy.drain(config.shutdown.drainMs);
      await stop();
    },
    stop,
  };
}

async function listenAll(admin: Admin, proxy: Proxy, log: Log): Promise<Started> {
  const own = await admin.listen();
  if (own.kind === 'failed') return { kind: 'failed', why: own.detail };
  const bound = await proxy.listen();
  if (bound.kind === 'failed') return { kind: 'failed', why: bound.message };
  for (const { pool, address } of [...bound.listeners, { pool: 'admin', address: own.address }]) {
    log.info({ event: 'listening', pool, address: `${address.host}:${address.port}` }, 'listening');
  }
  return { kind: 'started' };
}
