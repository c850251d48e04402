// The entrance to the proxy: it owns the listeners and the sessions, and applies changes of the routing table and of
// the policy to them. It reports what it does as events, and decides nothing about members.
import type { Socket } from 'node:net';
import type { Action } from '../core/actions.ts';
import type { Instant } from '../model/instant.ts';
import type { ClientCounts, PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { MoveResult } from '../reports/session-move.ts';
import type { Tally } from '../reports/tally.ts';
import { Admission } from './accept/admission.ts';
import { BranchConnector } from './branch/branch-connector.ts';
import { Cancels } from './cancel/cancel.ts';
import { BackendConnector } from './connect/connect-backend.ts';
import { DegradedPools } from './connect/degraded.ts';
import { dialTcp } from './connect/dial.ts';
import { apart, asStepOf } from './fault.ts';
import { serverDialer } from './branch/dial-server.ts';
import type { DialServer } from './server.ts';
import { keepContext } from './relay/direct/node-handle.ts';
import { RelayPipes } from './relay/direct/pipes.ts';
import { Drains } from './ending/drains.ts';
import { evict } from './ending/evict.ts';
import { drainAll } from './ending/shutdown.ts';
import { HoldQueue } from './connect/hold-queue.ts';
import { Listeners } from './accept/listeners.ts';
import type { BoundListener, ListenerChanges } from './accept/listeners.ts';
import type { ProxyOptions, ProxyPolicy } from './options.ts';
import { PolicyInForce } from './policy-in-force.ts';
import type { ListenResult, LocalProxy, PreparedPolicy } from './proxy-interface.ts';
import { Picker } from './connect/picker.ts';
import { SessionRegistry } from './session-registry.ts';
import { Session } from './session.ts';
import { LoadedMover } from './moves/load-mover.ts';
import { killSession, listSessions, moveSession, preflight } from './session-list.ts';
import type { ProxyParts } from './proxy-parts.ts';
import { MaxAge } from './ending/max-age.ts';
import { ParkedBackends } from './connect/parked-backends.ts';
import { SharedNames } from './startup/client-names.ts';
import { ClientStartup } from './startup/client-startup.ts';
import { StartupCounts } from './startup/startup-counts.ts';
import { BufferedBytes } from './startup/startup-reader.ts';
import { StallGate } from './relay/stall-gate.ts';
import { TlsIdentity } from './startup/tls-certificate.ts';
import type { CertificateStatus } from './startup/tls-certificate.ts';

export function createProxy(options: ProxyOptions): LocalProxy {
  const [onEvent, onTrigger] = [apart(options.onEvent), apart(options.onTrigger)];
  return new RunningProxy({ ...options, onEvent, onTrigger });
}

class RunningProxy implements LocalProxy {
  readonly #options: ProxyOptions;
  readonly #registry: SessionRegistry;
  readonly #holdQueue: HoldQueue;
  readonly #parked = new ParkedBackends();
  readonly #picker: Picker;
  readonly #identity: TlsIdentity;
  readonly #degraded: DegradedPools;
  readonly #drains: Drains;
  readonly #listeners: Listeners;
  readonly #admission: Admission;
  readonly #cancels: Cancels;
  readonly #parts: ProxyParts;
  readonly #policy: PolicyInForce;
  readonly #relayPipes: RelayPipes;
  readonly #stallGate: StallGate;
  readonly #startups = new StartupCounts();
  readonly #mover: LoadedMover;
  #isStopping = false;
  #lastId: number;

  constructor(options: ProxyOptions) {
    const { clock, table, onEvent, peers, dial = dialTcp } = options;
    const registry = new SessionRegistry(peers);
    this.#registry = registry;
    this.#lastId = peers?.lastId ?? 0;
    this.#options = options;
    this.#relayPipes = new RelayPipes(options);
    this.#stallGate = new StallGate(options);
    this.#holdQueue = new HoldQueue({
      ...options,
      policy: () => this.#policy.current().hold,
      heldElsewhere: () => peers?.others().held ?? 0,
    });
    this.#degraded = new DegradedPools(clock);
    this.#drains = new Drains({ ...options, perSecond: options.client.maxDisconnectsPerSecond });
    this.#picker = new Picker({ ...options, registry, drains: this.#drains });
    this.#identity = new TlsIdentity(options);
    this.#admission = new Admission({
      ...options,
      limits: () => this.#policy.current().client,
      others: peers?.others,
    });
    const caFile = () => this.#policy.current().branches?.backends.caFile;
    const dialServer = serverDialer({ ...options, dial, caFile });
    this.#cancels = new Cancels({ ...options, registry, dial: dialServer });
    this.#listeners = new Listeners({
      onConnection: (listener, client) => this.#accept(listener, client),
      inherited: options.inherited,
      onFailure: (pool, detail) => onEvent({ kind: 'listener_failed', pool, detail }),
      isShared: peers !== undefined,
    });
    this.#policy = new PolicyInForce(options, {
      registry,
      drains: this.#drains,
      listeners: this.#listeners,
      holdQueue: this.#holdQueue,
    });
    this.#policy.adopt(options);
    const connector = new BackendConnector({
      ...options,
      dial,
      picker: this.#picker,
      parked: this.#parked,
      policy: () => this.#policy.current().backend,
    });
    this.#mover = new LoadedMover({
      ...options,
      policy: () => this.#policy.current().moves,
      pool: (name) => this.#policy.pool(name),
      pools: () => this.#policy.current().pools,
      registry,
      dial,
      connector,
      connectAttempts: () => this.#policy.current().backend.connectAttempts,
    });
    this.#parts = this.#partsOf(options, dialServer, connector);
    this.#picker.tableChanged(table());
    this.#degraded.tableChanged(table());
    this.#holdQueue.tableChanged();
  }

  async listen(): Promise<ListenResult> {
    const identity = await this.#identity.prepare(this.#policy.current().client.tls);
    if (identity.kind === 'failed') return identity;
    const prepared = await this.#listeners.prepare(this.#policy.current().listeners);
    if (prepared.kind === 'failed') return prepared;
    await this.#relayPipes.choose(this.#policy.current().relay);
    await this.#mover.load(this.#policy.current().moves);
    if (!this.#isStopping) identity.apply();
    return { kind: 'listening', listeners: prepared.apply().added };
  }

  async prepare(policy: ProxyPolicy): Promise<PreparedPolicy> {
    await this.#mover.load(policy.moves);
    const identity = await this.#identity.prepare(policy.client.tls);
    if (identity.kind === 'failed') return identity;
    const prepared = await this.#listeners.prepare(policy.listeners);
    if (prepared.kind === 'failed') return prepared;
    const apply = (): ListenerChanges => {
      const before = this.#policy.adopt(policy);
      identity.apply();
      const changes = prepared.apply();
      this.#drains.review();
      this.#policy.drainRemoved(before, changes.removed);
      return changes;
    };
    return { ...prepared, apply };
  }

  tableChanged(actions: readonly Action[]): void {
    const table = this.#options.table();
    evict(actions, {
      drains: this.#drains,
      registry: this.#registry,
      ...this.#options,
      drainTimeoutMs: (pool) => this.#policy.drainTimeoutMs(pool),
      moves: () => this.#policy.current().moves,
    });
    this.#picker.tableChanged(table);
    this.#degraded.tableChanged(table);
    this.#parked.tableChanged(table);
    this.#holdQueue.tableChanged();
    this.#mover.get()?.tableChanged();
  }

  stalled(noticedAt: Instant, limitMs: number): void {
    this.#stallGate.stalled(this.#policy.current().pools, noticedAt, limitMs);
  }

  stopAccepting(): Promise<void> {
    return this.#listeners.closeWhenTaken();
  }

  emptied(timeoutMs: number): Promise<void> {
    return this.#registry.emptied(this.#options.clock, timeoutMs);
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    const perSecond = this.#policy.current().client.maxDisconnectsPerSecond;
    await drainAll({ ...this.#options, registry: this.#registry, drains: this.#drains, perSecond }, deadlineMs);
    this.close();
  }

  close(): void {
    this.#isStopping = true;
    this.#listeners.close();
    for (const session of this.#registry.all()) session.cut('shutdown');
    this.#holdQueue.stop();
    this.#mover.get()?.stop();
    this.#drains.stop();
    this.#cancels.stop();
    this.#identity.stop();
  }

  gather(): Promise<void> {
    return Promise.resolve();
  }

  sessions(query: SessionQuery): Promise<SessionList> {
    return Promise.resolve(listSessions(this.#registry.all(), query));
  }

  kill(session: number): Promise<KillResult> {
    return Promise.resolve(killSession(this.#registry.all(), session));
  }

  move(session: number): Promise<MoveResult> {
    return moveSession(this.#registry.all(), session, this.#mover.get());
  }

  preflight(member: MemberName): Promise<Preflight | undefined> {
    const mover = this.#policy.current().moves && this.#mover.get();
    return preflight(this.#registry.all(), member, mover);
  }

  tally(): Tally {
    return { ...this.#admission.tally(), ...this.#registry.tally() };
  }

  knowsCancel(packet: Uint8Array): boolean {
    return this.#cancels.isKnown(packet);
  }

  passOnCancel(packet: Uint8Array, pool: PoolName, onDone: (problem?: string) => void): void {
    this.#cancels.passOnKnown(packet, pool, onDone);
  }

  clients(): ClientCounts {
    return { handshakes: this.#admission.handshakes(), ...this.#startups.counts() };
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return new Map([...this.#registry.counts()].map(([name, counts]) => [name, this.#withHistory(name, counts)]));
  }

  trouble(): undefined {}

  workers(): readonly WorkerStatus[] {
    return [];
  }

  certificate(): CertificateStatus | undefined {
    return this.#identity.status();
  }

  #partsOf(options: ProxyOptions, dialServer: DialServer, connector: BackendConnector): ProxyParts {
    const registry = this.#registry;
    const buffered = new BufferedBytes();
    return {
      ...options,
      policy: () => this.#policy.current(),
      pool: (name) => this.#policy.pool(name),
      isStopping: () => this.#isStopping,
      admission: this.#admission,
      registry,
      names: new SharedNames(),
      newStartup: (client, outcome) =>
        new ClientStartup(client, {
          clock: options.clock,
          timeoutMs: this.#policy.current().client.startupTimeoutMs,
          tls: this.#identity.own(),
          buffered,
          counts: this.#startups,
          ...outcome,
        }),
      holdQueue: this.#holdQueue,
      connector,
      mover: this.#mover,
      branches: new BranchConnector({
        ...options,
        dial: dialServer,
        isStopping: () => this.#isStopping,
        routing: () => this.#policy.current().branches,
      }),
      relaying: {
        ...options,
        registry,
        cancels: this.#cancels,
        connector,
        maxAge: new MaxAge({ ...options, drains: this.#drains }),
        stallGate: this.#stallGate,
        openPipes: this.#relayPipes.openPipes,
      },
      cancels: this.#cancels,
    };
  }

  #accept({ pool, address: listener }: BoundListener, client: Socket): void {
    const policy = this.#policy.pool(pool);
    this.#lastId += 1;
    if (policy === undefined) return;
    const session = new Session(this.#lastId, { policy, listener, client }, this.#parts);
    asStepOf(session, () => {
      keepContext(client);
      session.start();
    });
  }

  #withHistory(name: PoolName, counts: PoolCounts): PoolCounts {
    const pool = this.#policy.pool(name);
    return pool === undefined
      ? counts
      : {
          ...counts,
          ramping: this.#picker.ramping(pool),
          refusing: this.#picker.refusals.shown(name),
          degradedSince: this.#degraded.since(name),
          heldSince: this.#holdQueue.longestSince(name),
        };
  }
}
