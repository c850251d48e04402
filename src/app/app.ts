// The composition root: makes the parts from a configuration and gives each the functions that it needs. No part knows
// this file, and it decides nothing about routing.
import type { Admin } from '../admin/admin-server.ts';
import { createOperationLock } from '../admin/operation-lock.ts';
import { createIncidents } from './connect-recorder.ts';
import { createLongOperations, type AppOperations } from './long-operations.ts';
import { createAdminOf } from './admin.ts';
import { RecentEvents } from '../admin/recent-events.ts';
import { readAdminToken } from '../config/files/admin-token.ts';
import type { Config } from '../config/config.ts';
import type { ConsoleControl } from './console.ts';
import type { EventStream } from './event-stream.ts';
import type { FlightRecorder } from '../incidents/recorder.ts';
import type { LoadResult } from '../config/load.ts';
import { EventIds } from '../reports/event-ids.ts';
import { addressText } from '../model/member.ts';
import type { Load } from './own-operations.ts';
import { createGrace, whenEmpty } from './emptying.ts';
import { processCount } from './proxy-or-workers.ts';
import { tooFewDescriptors } from './open-files.ts';
import type { BoundListener, ListenerChanges } from '../proxy/accept/listeners.ts';
import type { DescriptorBudget } from '../proxy/options.ts';
import { takeFault } from '../proxy/fault.ts';
import type { BoundProxy } from '../proxy/proxy-interface.ts';
import { takingTurns } from '../model/taking-turns.ts';
import { createHistory, createLastHour, type LastHour } from './last-hour.ts';
import { reload, type ReloadOptions, type ReloadResult } from './reload.ts';
import { sessionPools } from './session-pools.ts';
import { createAccessLog } from '../telemetry/access-log.ts';
import type { Log, WriteLine } from '../telemetry/log.ts';
import { tapped } from '../telemetry/tapped-log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { scrapeOf } from './metrics-source.ts';
import type { ReportedEvent } from '../reports/events.ts';
import { createRecorder, type Recorder, type RecorderOptions } from '../telemetry/record.ts';
import { createCore, type CoreOptions } from './routing-core.ts';
import { createStreams } from '../admin/streams.ts';

export interface AppOptions extends CoreOptions {
  readonly log: Log;
  /** Writes a line of the access log. Default: there is none. */
  readonly access?: WriteLine;
  /** The configuration file. Default: the environment. */
  readonly source?: string | undefined;
  readonly version: string;
  readonly nodeVersion: string;
  /** For a reload over HTTP. Default: there is no file. */
  readonly load?: Load;
  /** Lines of the log that could not be written, since the start. Default: none. */
  readonly droppedLogLines?: () => number;
  /** Gets every event, in addition to the log and the metrics. */
  readonly narrate?: (event: ReportedEvent) => void;
}

interface StartFailure {
  readonly kind: 'failed';
  readonly why: string;
}

export type AppStart = BoundProxy | StartFailure;

export interface ComposedApp {
  /** The log that was given. Its lines are recent events of GET /events, too. */
  readonly log: Log;
  /** In effect: of the start, or of the last reload. */
  config(): Config;
  /** Binds every address or none, and begins to watch the cluster. Resolves when clients are served. */
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

/** Makes each part after the parts that it needs. Signals carry what a part reports to later ones. */
export function createApp(options: AppOptions): ComposedApp {
  const { config, clock, narrate, load = () => ({ kind: 'no_file' }) } = options;
  const ids = new EventIds(newRun());
  const recent = new RecentEvents({ ids, wallClock: () => Date.now() });
  const log = tapped(options.log, ids, (line) => recent.add(line));
  const mayEventsWait = (): boolean =>
    narrate === undefined && running.config.log.access === 'off' && !log.isLevelEnabled('debug');
  const { events, decisions, core, branches, connect, files } = createCore({ ...options, mayEventsWait });
  const { running, monitor, proxy } = core;
  const incidents = createIncidents({ ...options, ...core, ids, log });
  const history = createHistory({ ...core, incidents });
  const operationLock = createOperationLock();
  const operations = createLongOperations({ ...options, ...core, operationLock, onEvent: events.emit });
  const past = createLastHour({ ...core, history, incidents, onOutage: events.emit });
  const streams = createStreams();
  const metrics = createMetrics({
    ...options,
    pools: sessionPools(config),
    now: () => core.clock.now(),
    scrape: () => {
      events.flush();
      return scrapeOf({ ...options, ...core, history, openFiles: files.now, streams });
    },
  });
  const life: Life = { isStopping: false };
  const inTurn = takingTurns();
  const isStopping = (): boolean => life.isStopping;
  const onListeners = (changes: ListenerChanges): void => tellListeners(log, changes);
  const parts = { ...core, isStopping, connect, branches, metrics, onEvent: events.emit, log, onListeners };
  const reloadNow = (loaded: LoadResult): Promise<ReloadResult> =>
    inTurn(async () => {
      const reloaded = await reload(parts, loaded);
      if (reloaded.kind === 'reloaded' && reloaded.changed.length > 0) operations.reloaded();
      return reloaded;
    });
  const { admin, console, liveStatus } = createAdminOf({
    ...core,
    version: options.version,
    source: options.source ?? 'environment',
    startedAt: clock.now(),
    log,
    recent,
    incidents,
    past,
    history,
    metrics,
    streams,
    openFiles: files.now,
    isStopping,
    operationLock,
    switchovers: operations.admin,
    load,
    reload: reloadNow,
  });
  const access = createAccessLog({ mode: () => running.config.log.access, write: options.access ?? (() => {}) });
  const observe: RecorderOptions['observe'] = (event, number, at) => {
    history.take(event, at);
    incidents.take(event, number, at);
    past.take(event, at);
    if (event.kind === 'standing_changed') liveStatus.changed();
    access(event);
    narrate?.(event);
  };
  const recorder = createRecorder({ log, clock, ids, count: metrics.count, observe });

  const firstRound = Promise.withResolvers<void>();
  decisions.listen((actions) => {
    incidents.tableChanged();
    proxy.tableChanged(actions);
    history.decided();
    operations.tableChanged();
    if (monitor.table().complete) firstRound.resolve();
  });
  events.listen(operations.take);
  events.listen(recorder.record);
  const { start, drain, stop } = lifeOf(life, {
    ...parts,
    admin,
    console,
    operations,
    past,
    incidents,
    events,
    recorder,
    descriptors: files.descriptors,
  });
  return {
    log,
    config: () => running.config,
    start: () => inTurn(start),
    complete: () => firstRound.promise,
    reload: reloadNow,
    drain,
    stop,
    fault: (error) => takeFault(error, events.emit),
  };
}

interface Life {
  isStopping: boolean;
}

interface LifeOptions extends ReloadOptions {
  readonly log: Log;
  readonly admin: Admin;
  readonly console: ConsoleControl;
  readonly descriptors: DescriptorBudget | undefined;
  readonly operations: AppOperations;
  readonly past: LastHour;
  readonly incidents: FlightRecorder;
  readonly events: EventStream;
  readonly recorder: Recorder;
}

function lifeOf(life: Life, parts: LifeOptions): Pick<ComposedApp, 'start' | 'drain' | 'stop'> {
  const { running, admin, console, operations, past, incidents, proxy, monitor, branches, events, recorder } = parts;
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
    events.flush();
    recorder.stop();
    await incidents.close();
  };
  return {
    stop,
    async start() {
      await incidents.open();
      const why = await branches.prepare(running.config.branches);
      if (why === undefined) branches.apply(running.config.branches);
      const started = why === undefined ? await listenAll(parts) : { kind: 'failed' as const, why };
      if (started.kind === 'failed') {
        await stop();
        return started;
      }
      monitor.start();
      past.start();
      await started.serving;
      return started;
    },
    async drain() {
      life.isStopping = true;
      await operations.stop();
      const closed = await whenEmpty(proxy, running.config.shutdown, grace);
      await stop();
      return closed;
    },
  };
}

/** Differs from that of the run before. */
function newRun(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
}

async function listenAll(parts: LifeOptions): Promise<BoundProxy | StartFailure> {
  const { running, admin, console, descriptors, proxy, log } = parts;
  const { config } = running;
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
  return { kind: 'listening', listeners, serving: bound.serving };
}

function tellListeners(log: Log, { added, removed }: ListenerChanges): void {
  const tell = (event: string, text: string, { pool, address }: BoundListener): void =>
    log.info({ event, pool, address: addressText(address) }, `${text} on ${addressText(address)} (${pool})`);
  for (const listener of added) tell('listening', 'listening', listener);
  for (const listener of removed) tell('not_listening', 'no longer listening', listener);
}
