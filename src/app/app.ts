// The composition root: makes the parts from a configuration and gives each the functions that it needs. No part knows
// this file, and it decides nothing about routing.
import type { Admin } from '../admin/admin-server.ts';
import type { OpenFilesStatus } from '../admin/status.ts';
import { createExclusion } from '../admin/exclusion.ts';
import { createRunningBranches } from './running-branches.ts';
import { createIncidents } from './connect-recorder.ts';
import { createLongOperations } from './long-operations.ts';
import type { AppOperations } from './long-operations.ts';
import { createAdminOf } from './admin.ts';
import { RecentEvents } from '../admin/recent-events.ts';
import { createClusterAccess } from './cluster-access.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { readAdminToken } from '../config/files/admin-token.ts';
import type { Config } from '../config/config.ts';
import type { ConsoleControl } from './console.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { IncidentRecorder } from '../incidents/recorder.ts';
import type { LoadResult } from '../config/load.ts';
import { EventIds } from '../reports/event-ids.ts';
import type { MonitorEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import { Monitor } from '../monitor/monitor.ts';
import type { Load } from './own-operations.ts';
import { createGrace, emptied } from './emptying.ts';
import { createForwarding, processCount } from './forwarding.ts';
import { tooFewDescriptors } from './open-files.ts';
import type { BoundListener, ListenerChanges } from '../proxy/accept/listeners.ts';
import type { InheritedSocket } from '../proxy/accept/listeners.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';
import { descriptorBudget } from '../proxy/accept/descriptor-limit.ts';
import { takeFault } from '../proxy/fault.ts';
import type { OpenFiles, DescriptorBudget } from '../proxy/accept/descriptor-limit.ts';
import { takingTurns } from '../model/taking-turns.ts';
import { createHistory, createPast } from './past.ts';
import type { Past } from './past.ts';
import { reload } from './reload.ts';
import type { ReloadParts, ReloadResult, RunningParts } from './reload.ts';
import { sessionPools } from './session-pools.ts';
import { createAccessLog } from '../telemetry/access-log.ts';
import type { Log, Write } from '../telemetry/log.ts';
import { tapped } from '../telemetry/tapped-log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { metricsSource } from './metrics-source.ts';
import { createRecorder } from '../telemetry/record.ts';
import type { RecorderOptions } from '../telemetry/record.ts';

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  /** Writes a line of the access log. Default: there is none. */
  readonly access?: Write;
  /** The configuration file. Default: the environment. */
  readonly source?: string | undefined;
  readonly version: string;
  readonly nodeVersion: string;
  /** For a reload over HTTP. Default: there is no file. */
  readonly load?: Load;
  readonly clock: Clock;
  /** Listening sockets that this process was started with. Listeners on their addresses use them. */
  readonly inherited?: readonly InheritedSocket[];
  /** Of this process. Default: there is no limit. */
  readonly openFiles?: () => OpenFiles | undefined;
  /** Lines of the log that could not be written, since the start. Default: none. */
  readonly droppedLogLines?: () => number;
  /** Gets every event, in addition to the log and the metrics. */
  readonly narrate?: RecorderOptions['narrate'];
}

export type AppStart =
  | { readonly kind: 'started'; readonly listeners: readonly BoundListener[] }
  | { readonly kind: 'failed'; readonly why: string };

export interface App {
  /** The log that was given. Its lines are recent events of GET /events, too. */
  readonly log: Log;
  /** In effect: of the start, or of the last reload. */
  config(): Config;
  /** Binds every address or none, then begins to watch the cluster. */
  start(): Promise<AppStart>;
  /** Resolves when the first complete round of probes has shown the cluster. */
  complete(): Promise<void>;
  /**
   * Applies a configuration completely or not at all, except settings that need a restart. Logs and counts the result.
   * Live sessions stay where they still may.
   */
  reload(loaded: LoadResult): Promise<ReloadResult>;
  /**
   * Not ready from now on. Accepts clients for `shutdown.grace`, waits for `shutdown.wait`, drains for
   * `shutdown.drain_timeout`, then ends. Resolves when everything is closed.
   */
  drain(): Promise<number>;
  /** Ends everything at once. */
  stop(): Promise<void>;
  /** An exception or a rejection that nothing has caught: it ends the session of its step, or is logged. */
  fault(error: unknown): void;
}

export function createApp(options: AppOptions): App {
  const { config, inherited, clock, narrate, load = () => ({ kind: 'no_file' }) } = options;
  const ids = new EventIds(newRun());
  const events = new RecentEvents({ ids, wallClock: () => Date.now() });
  const log = tapped(options.log, ids, (line) => events.add(line));
  const tell = (event: MonitorEvent, at?: Instant): void => recorder.onMonitorEvent(event, at);
  const connect = (cluster: ClusterConfig): ClusterAccess =>
    createClusterAccess(cluster, { clock, tell, onHint: () => monitor.hint() });
  const running: RunningParts = { config, access: connect(config.cluster), loadedAt: Date.now() };
  const files = openFilesOf(options);
  const life: Life = { isStopping: false };
  const isStopping = (): boolean => life.isStopping;
  const firstRound = Promise.withResolvers<void>();

  const shells = { clock, running, monitor: () => monitor, proxy: () => proxy };
  const history = createHistory(shells);
  const metrics = createMetrics({
    ...options,
    pools: sessionPools(config),
    source: metricsSource({ ...options, ...shells, history, openFiles: files.now, admin: () => admin }),
  });
  const incidents = createIncidents({ ...options, ...shells, ids, log });
  const observe: RecorderOptions['observe'] = (event, number, at) => {
    history.take(event, at);
    incidents.take(event, number, at);
    past.take(event, at);
    if (event.kind === 'standing_changed') liveStatus.changed();
  };
  const access = createAccessLog({ mode: () => running.config.log.access, write: options.access ?? (() => {}) });
  const recorder = createRecorder({ log, clock, ids, count: metrics.count, observe, access, narrate });

  const monitor: Monitor = new Monitor({
    policy: config,
    scope: config.cluster.scope,
    probe: (...question) => running.access.probe(...question),
    discover: (from) => running.access.discover(from),
    readHistory: () => (running.config.moves?.mode === 'always' ? running.access.readHistory : undefined),
    clock,
    wallClock: () => Date.now(),
    random: Math.random,
    onTable: (actions) => {
      incidents.tableChanged();
      proxy.tableChanged(actions);
      history.decided();
      operations.tableChanged();
      if (monitor.table().complete) firstRound.resolve();
    },
    onStall: (...stall) => proxy.stalled(...stall),
    onEvent: tell,
  });
  const branches = createRunningBranches({ running, clock, onEvent: recorder.onBranchList });
  const proxy: Proxy = createForwarding({
    config,
    monitor,
    locateBranch: branches.locate,
    inherited,
    onEvent: (event, at) => {
      operations.take(event);
      recorder.onProxyEvent(event, at);
    },
    clock,
    descriptors: files.descriptors,
  });

  const exclusion = createExclusion();
  const operations = createLongOperations({ ...shells, exclusion, onEvent: recorder.onOperation });
  const past = createPast({ history, clock, running, monitor, proxy, incidents, onOutage: recorder.onOutage });
  const { admin, console, liveStatus } = createAdminOf({
    version: options.version,
    source: options.source ?? 'environment',
    clock,
    startedAt: clock.now(),
    log,
    events,
    incidents,
    past,
    history,
    running,
    monitor,
    proxy,
    metrics,
    openFiles: files.now,
    isStopping,
    exclusion,
    switchovers: operations.admin,
    load,
    reload: (loaded) => app.reload(loaded),
  });

  const onListeners = (changes: ListenerChanges): void => tellListeners(log, changes);
  const parts = { running, isStopping, connect, proxy, monitor, branches, metrics, recorder, log, onListeners, clock };
  const app: App = lifeOf({
    ...parts,
    life,
    admin,
    console,
    operations,
    past,
    incidents,
    firstRound: firstRound.promise,
    descriptors: files.descriptors,
  });
  return app;
}

interface Life {
  isStopping: boolean;
}

interface LifeParts extends ReloadParts, Control {
  readonly life: Life;
  readonly operations: AppOperations;
  readonly past: Past;
  readonly incidents: IncidentRecorder;
  readonly firstRound: Promise<void>;
  readonly clock: Clock;
}

/** From the start to the end, with the reloads in between. */
function lifeOf(parts: LifeParts): App {
  const { running, life, admin, console, operations, past, incidents, firstRound, proxy, monitor } = parts;
  const { branches, recorder, log } = parts;
  const grace = createGrace(parts.clock);
  const stop = async (): Promise<void> => {
    life.isStopping = true;
    grace.end();
    await operations.stop();
    past.stop();
    await proxy.close();
    monitor.stop();
    branches.stop();
    running.access.close();
    await admin.close();
    await console.close();
    recorder.stop();
    await incidents.close();
  };
  const start = async (): Promise<AppStart> => {
    await incidents.open();
    const why = await branches.prepare(running.config.branches);
    if (why === undefined) branches.apply(running.config.branches);
    const started: AppStart =
      why === undefined ? await listenAll(running.config, parts, proxy, log) : { kind: 'failed', why };
    if (started.kind === 'failed') await stop();
    else {
      monitor.start();
      past.start();
    }
    return started;
  };
  const inTurn = takingTurns();
  return {
    log,
    config: () => running.config,
    start: () => inTurn(start),
    complete: () => firstRound,
    reload: (loaded) =>
      inTurn(async () => {
        const reloaded = await reload(parts, loaded);
        if (reloaded.kind === 'reloaded' && reloaded.changed.length > 0) operations.reloaded();
        return reloaded;
      }),
    async drain() {
      life.isStopping = true;
      await operations.stop();
      const closed = await emptied(proxy, running.config.shutdown, grace);
      await stop();
      return closed;
    },
    stop,
    fault: (error) => takeFault(error, (event) => recorder.onProxyEvent(event)),
  };
}

/** Differs from that of the run before. */
function newRun(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
}

/** `now`: as /status tells it. */
function openFilesOf({ openFiles = () => undefined }: AppOptions) {
  const first = openFiles();
  const descriptors = first && descriptorBudget(first);
  const now = (config: Config): OpenFilesStatus | undefined => {
    const files = openFiles();
    if (files === undefined || descriptors === undefined) return undefined;
    return { ...files, mostSessions: Math.min(config.client.maxSessions, descriptors.sessions * processCount(config)) };
  };
  return { descriptors, now };
}

interface Control {
  readonly admin: Admin;
  readonly console: ConsoleControl;
  readonly descriptors: DescriptorBudget | undefined;
}

async function listenAll(
  config: Config,
  { admin, console, descriptors }: Control,
  proxy: Proxy,
  log: Log,
): Promise<AppStart> {
  const why = tooFewDescriptors(descriptors, config.client, processCount(config), log);
  if (why !== undefined) return { kind: 'failed', why };
  const token = await readAdminToken(config.admin);
  if (token.kind === 'unusable') log.warn({ event: 'token_unusable' }, `operations are disabled: ${token.why}`);
  const own = await admin.listen();
  if (own.kind === 'failed') return { kind: 'failed', why: own.detail };
  const asked = await console.listen();
  if (asked?.kind === 'failed') return { kind: 'failed', why: asked.detail };
  const bound = await proxy.listen();
  if (bound.kind === 'failed') return { kind: 'failed', why: bound.message };
  const listeners = [...bound.listeners, { pool: 'admin', address: own.address }];
  if (asked !== undefined) listeners.push({ pool: 'console', address: asked.address });
  tellListeners(log, { added: listeners, removed: [] });
  return { kind: 'started', listeners };
}

function tellListeners(log: Log, { added, removed }: ListenerChanges): void {
  const tell = (event: string, text: string, { pool, address }: BoundListener): void =>
    log.info({ event, pool, address: addressText(address) }, `${text} on ${addressText(address)} (${pool})`);
  for (const listener of added) tell('listening', 'listening', listener);
  for (const listener of removed) tell('not_listening', 'no longer listening', listener);
}
