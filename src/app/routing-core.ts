// This file makes the parts that route: access to the cluster, the monitor, the branches and the proxy. Signals carry
// what happens in them to listeners that are made later.
import type { OpenFilesStatus } from '../admin/status.ts';
import type { Config } from '../config/config.ts';
import type { Action } from '../core/actions.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { Monitor } from '../monitor/monitor.ts';
import { descriptorBudget, type OpenFiles } from '../proxy/accept/descriptor-limit.ts';
import type { InheritedSocket } from '../proxy/options.ts';
import { createClusterAccess, type ClusterAccess } from './cluster-access.ts';
import { EventStream } from './event-stream.ts';
import { createProxyOrWorkers, processCount } from './proxy-or-workers.ts';
import { THIS_MACHINE, type Machine } from './machine.ts';
import type { CoreParts, InForce } from './reload.ts';
import { createRunningBranches, type RunningBranches } from './running-branches.ts';

export interface CoreOptions {
  readonly config: Config;
  readonly clock: Clock;
  /** Listening sockets that this process was started with. Listeners on their addresses use them. */
  readonly inherited?: readonly InheritedSocket[];
  /** The open files of this process. Default: there is no limit. */
  readonly openFiles?: () => OpenFiles | undefined;
  /** Default: this machine. */
  readonly machine?: Machine;
  /** Whether the usual events of sessions may wait a moment. Default: never. */
  readonly mayEventsWait?: () => boolean;
}

/** A part reports to it, and the parts that are made later listen. */
class Signal<Values extends readonly unknown[]> {
  readonly #receivers: ((...values: Values) => void)[] = [];

  /** Synchronous, in the order of the receivers. */
  readonly emit = (...values: Values): void => {
    for (const receive of this.#receivers) receive(...values);
  };

  listen(receive: (...values: Values) => void): void {
    this.#receivers.push(receive);
  }
}

export interface RoutingCore {
  readonly events: EventStream;
  readonly decisions: Signal<[actions: readonly Action[]]>;
  readonly core: CoreParts;
  readonly branches: RunningBranches;
  readonly connect: (cluster: ClusterConfig) => ClusterAccess;
  readonly files: ReturnType<typeof openFilesOf>;
}

export function createCore(options: CoreOptions): RoutingCore {
  const { config, inherited, clock, machine = THIS_MACHINE, mayEventsWait: mayWait = () => false } = options;
  const events = new EventStream({ clock, mayWait });
  const decisions = new Signal<[actions: readonly Action[]]>();
  const hints = new Signal<[]>();
  const stalls = new Signal<[noticedAt: Instant, limitMs: number]>();
  const connect = (cluster: ClusterConfig): ClusterAccess =>
    createClusterAccess(cluster, { clock, tell: events.emit, onHint: hints.emit, machine });
  const running: InForce = { config, access: connect(config.cluster), loadedAt: machine.wallClock() };
  const monitor = new Monitor({
    policy: config,
    scope: config.cluster.scope,
    probe: (...question) => running.access.probe(...question),
    discover: (from) => running.access.discover(from),
    readHistory: () => (running.config.moves?.mode === 'always' ? running.access.readHistory : undefined),
    clock,
    wallClock: machine.wallClock,
    random: machine.random,
    onTable: decisions.emit,
    onStall: stalls.emit,
    onEvent: events.emit,
  });
  hints.listen(() => monitor.hint());
  const branches = createRunningBranches({ running, clock, onEvent: events.emit });
  const files = openFilesOf(options);
  const proxy = createProxyOrWorkers({
    config,
    monitor,
    locateBranch: branches.locate,
    inherited,
    onEvent: events.emit,
    clock,
    descriptors: files.descriptors,
    machine,
  });
  stalls.listen((...stall) => proxy.stalled(...stall));
  return { events, decisions, core: { clock, running, monitor, proxy }, branches, connect, files };
}

/** `now`: as /status tells it. */
function openFilesOf({ openFiles = () => undefined }: CoreOptions) {
  const first = openFiles();
  const descriptors = first && descriptorBudget(first);
  const now = (config: Config): OpenFilesStatus | undefined => {
    const files = openFiles();
    if (files === undefined || descriptors === undefined) return undefined;
    return { ...files, mostSessions: Math.min(config.client.maxSessions, descriptors.sessions * processCount(config)) };
  };
  return { descriptors, now };
}
