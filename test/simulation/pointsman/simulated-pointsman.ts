// A whole Pointsman on a simulated host: the real parts, from the configuration to the sockets, with the clock, the
// chance and the network of that host. Log, metrics and admin API are left out.
import { createLongOperations, type AppOperations } from '../../../src/app/long-operations.ts';
import type { Machine } from '../../../src/app/machine.ts';
import { reload, type ReloadResult } from '../../../src/app/reload.ts';
import { takingTurns } from '../../../src/model/taking-turns.ts';
import { createCore, type RoutingCore } from '../../../src/app/routing-core.ts';
import { clusterControl } from '../../../src/app/cluster-control.ts';
import type { OperationResult } from '../../../src/documents/cluster-documents.ts';
import { createGrace, whenEmpty } from '../../../src/app/emptying.ts';
import { createOperationLock } from '../../../src/admin/operation-lock.ts';
import { formatProblems } from '../../../src/config/fault.ts';
import { loadConfig, type LoadResult } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/config.ts';
import { takeFault } from '../../../src/proxy/fault.ts';
import { dialerOf } from '../../../src/proxy/connect/dial.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import type { HttpResult, Request } from '../../../src/patroni/http.ts';
import type { SentBytes } from '../world/kernel-handle.ts';
import type { Host, World } from '../world/world.ts';
import { startWorker } from './worker-channel.ts';

/** To be awaited before the first simulation: nothing in one may wait for an import. */
export async function loadLate(): Promise<void> {
  await Promise.all([
    import('../../../src/cluster/long-operations.ts'),
    import('../../../src/cluster/direct-control.ts'),
    import('../../../src/cluster/restart-in-place.ts'),
    import('../../../src/patroni/write.ts'),
    import('../../../src/proxy/moves/mover.ts'),
    import('../../../src/proxy/moves/session-mover.ts'),
  ]);
}

export interface PointsmanOptions {
  readonly world: World;
  readonly host: Host;
  /** The sections of the configuration file. */
  readonly file: Readonly<Record<string, unknown>>;
  readonly onEvent?: (event: ReportedEvent) => void;
  readonly witness?: Witness;
}

/** Sees what goes in and out, and changes nothing. */
export interface Witness {
  /** `askedAt`: by the clock of the host. */
  readonly answered: (request: Request, askedAt: number, result: HttpResult) => void;
  readonly sent: SentBytes;
}

export interface Reload {
  readonly result: ReloadResult;
  readonly before: Config;
  readonly after: Config;
  /** As the file has it. */
  readonly loaded: LoadResult;
}

export class SimulatedPointsman {
  readonly host: Host;
  readonly #world: World;
  readonly #core: RoutingCore;
  readonly #operationLock = createOperationLock();
  readonly #operations: AppOperations;
  #isStopped = false;
  #killedAt: number | undefined;
  /** It was told to stop. */
  drainedAt: number | undefined;
  stoppedAt: number | undefined;
  readonly reloads: Reload[] = [];
  /** As the app: its start and its reloads. */
  readonly #inTurn = takingTurns();

  constructor({ world, host, file, onEvent, witness }: PointsmanOptions) {
    this.host = host;
    this.#world = world;
    const config = configOf(file);
    const machine = machineOf(world, host, witness);
    this.#core = createCore({ config, clock: host.clock, machine });
    const { core, events, decisions } = this.#core;
    const operationLock = this.#operationLock;
    this.#operations = createLongOperations({ ...core, operationLock, onEvent: events.emit, machine });
    decisions.listen((actions) => {
      core.proxy.tableChanged(actions);
      this.#operations.tableChanged();
    });
    events.listen(this.#operations.take);
    events.listen((event) => onEvent?.(event));
  }

  get isKilled(): boolean {
    return this.#killedAt !== undefined;
  }

  get killedAt(): number | undefined {
    return this.#killedAt;
  }

  get parts(): RoutingCore['core'] {
    return this.#core.core;
  }

  /** The hosts whose APIs it asks: those of its members and of its seeds. */
  contacts(): ReadonlySet<string> {
    const { monitor, running } = this.parts;
    const members = [...monitor.snapshot().members.values()].map(({ member }) => member.api);
    const seeds = running.config.cluster.seeds.flatMap((seed) => ('address' in seed ? [seed] : []));
    return new Set([...members, ...seeds].map(({ address }) => address.host));
  }

  get operations(): AppOperations['admin'] {
    return this.#operations.admin;
  }

  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** SIGHUP. It may be a file that no Pointsman can use. */
  reload(file: PointsmanOptions['file']): Promise<void> {
    return this.#inTurn(() => this.#reload(file));
  }

  async #start(): Promise<void> {
    const { proxy, monitor } = this.parts;
    const bound = await proxy.listen();
    if (bound.kind === 'failed') throw new Error(bound.message);
    if (!this.#isStopped) monitor.start();
    await bound.serving;
    this.#world.note(`${this.host.name} listens`);
  }

  async #reload(file: PointsmanOptions['file']): Promise<void> {
    // A killed process takes no signal.
    if (this.isKilled) return;
    const { core, events, branches, connect } = this.#core;
    const before = core.running.config;
    const loaded = load(file);
    const reloaded = await reload(
      {
        ...core,
        branches,
        connect,
        isStopping: () => this.#isStopped,
        metrics: { learn: () => {} },
        log: { level: '' },
        onEvent: events.emit,
        onListeners: () => {},
      },
      loaded,
    );
    this.reloads.push({ result: reloaded, before, after: core.running.config, loaded });
    if (reloaded.kind === 'reloaded' && reloaded.changed.length > 0) this.#operations.reloaded();
  }

  /** `pointsman cluster restart`. */
  async restart(member: string): Promise<OperationResult> {
    const leave = this.#operationLock.enter('restart');
    if (leave === undefined) return { kind: 'refused', text: 'another operation runs' };
    const control = await clusterControl(this.parts);
    return control.perform({ kind: 'restart', member }).finally(leave);
  }

  /** SIGTERM, as the app does it. */
  async drain(): Promise<void> {
    const { proxy, running, clock } = this.parts;
    this.drainedAt = this.#world.now();
    this.#world.note(`${this.host.name} drains`);
    await this.#operations.stop();
    await whenEmpty(proxy, running.config.shutdown, createGrace(clock));
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const { proxy, monitor, running } = this.parts;
    await this.#operations.stop();
    await proxy.close();
    monitor.stop();
    running.access.close();
    this.stoppedAt = this.#world.now();
    this.#world.note(`${this.host.name} has stopped`);
  }

  /** SIGKILL: its sockets close, and nothing of it runs again. */
  kill(): void {
    this.#killedAt = this.#world.now();
    this.host.endProcesses();
    this.#world.note(`${this.host.name} is killed`);
  }

  /** An exception that nothing has caught. */
  fault(error: unknown): void {
    takeFault(error, this.#core.events.emit);
  }
}

function configOf(file: PointsmanOptions['file']): Config {
  const loaded = load(file);
  if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

function load(file: PointsmanOptions['file']): LoadResult {
  return loadConfig({ file: 'pointsman.yaml', env: {}, readFile: () => JSON.stringify(file) });
}

function machineOf(world: World, host: Host, witness: Witness | undefined): Machine {
  const random = world.random.fork(`pointsman ${host.name} ${world.now()}`);
  const network: NonNullable<Machine['network']> = {
    transport: {
      clock: host.clock,
      send: async (request) => {
        const askedAt = host.clock.now();
        const result = await host.request(request);
        witness?.answered(request, askedAt, result);
        return result;
      },
      askPort: (address, deadlineMs) => host.askPort(address, deadlineMs),
    },
    createServer: (options) => host.createServer(options),
    readSilentConnections: () => Promise.resolve(host.silentConnections()),
    dial: dialerOf((options) => host.createSocket(options, witness?.sent)),
  };
  const machine = { wallClock: () => host.wallClock(), random: random.next, network };
  return { ...machine, startProcess: startWorker({ world, host, machine }) };
}
