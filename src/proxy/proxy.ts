// The entrance to the proxy: it owns the listeners and the sessions, and applies changes of the routing table and of
// the policy to them. It reports what it does as events, and decides nothing about members.
import type { Action } from '../core/actions.ts';
import type { Instant } from '../model/instant.ts';
import type { ClientCounts, PoolCounts, WorkerStatus, CertificateStatus } from '../reports/counts.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { MoveResult } from '../reports/session-move.ts';
import type { Tally } from '../reports/tally.ts';
import { apart, asStepOf } from './fault.ts';
import { keepContext } from './relay/direct/node-handle.ts';
import { evict } from './ending/evict.ts';
import { drainAll } from './ending/shutdown.ts';
import type { BoundListener, ListenerChanges } from './accept/listeners.ts';
import type { ProxyOptions, ProxyPolicy } from './options.ts';
import type { ListenResult, LocalProxy, PreparedPolicy } from './proxy-interface.ts';
import { Session } from './session.ts';
import { killSession, listSessions, moveSession } from './session-list.ts';
import { assemble, type Assembly } from './assembly.ts';
import type { ProxySocket } from './socket.ts';

export function createProxy(options: ProxyOptions): LocalProxy {
  const [onEvent, onTrigger] = [apart(options.onEvent), apart(options.onTrigger)];
  return new RunningProxy({ ...options, onEvent, onTrigger });
}

class RunningProxy implements LocalProxy {
  readonly #parts: Assembly;
  #isStopping = false;
  /** Undefined before `listen`. */
  #serving: Promise<void> | undefined;
  #lastId: number;

  constructor(options: ProxyOptions) {
    this.#lastId = options.siblings?.lastId ?? 0;
    this.#parts = assemble(options, {
      isStopping: () => this.#isStopping,
      onConnection: (...accepted) => this.#accept(...accepted),
    });
    const { picker, degraded, holdQueue } = this.#parts;
    picker.tableChanged(options.table());
    degraded.tableChanged(options.table());
    holdQueue.tableChanged();
  }

  async listen(): Promise<ListenResult> {
    const { policy, mover, keepalives, tcpTimeouts } = this.#parts;
    const identity = await this.#parts.identity.prepare(policy().client.tls);
    if (identity.kind === 'failed') return identity;
    const prepared = await this.#parts.listeners.prepare(policy().listeners);
    if (prepared.kind === 'failed') return prepared;
    await mover.load(policy().moves);
    if (!this.#isStopping) {
      identity.apply();
      keepalives.review();
      tcpTimeouts.review();
    }
    const { added } = prepared.apply();
    this.#serving = this.#serve();
    return { kind: 'listening', listeners: added, serving: this.#serving };
  }

  /** The members are probed meanwhile. */
  async #serve(): Promise<void> {
    const { policy, pipes, listeners } = this.#parts;
    await pipes.choose(policy().relay);
    listeners.serve();
  }

  async prepare(policy: ProxyPolicy): Promise<PreparedPolicy> {
    await this.#parts.mover.load(policy.moves);
    const identity = await this.#parts.identity.prepare(policy.client.tls);
    if (identity.kind === 'failed') return identity;
    const prepared = await this.#parts.listeners.prepare(policy.listeners);
    if (prepared.kind === 'failed') return prepared;
    const apply = (): ListenerChanges => {
      const before = this.#parts.inForce.adopt(policy);
      identity.apply();
      const changes = prepared.apply();
      this.#parts.drains.review();
      this.#parts.keepalives.review();
      this.#parts.tcpTimeouts.review();
      this.#parts.inForce.drainRemoved(before, changes.removed);
      return changes;
    };
    return { ...prepared, apply };
  }

  tableChanged(actions: readonly Action[]): void {
    const { inForce, picker, degraded, parked, holdQueue, mover, reads } = this.#parts;
    const table = this.#parts.table();
    evict(actions, {
      ...this.#parts,
      drainTimeoutMs: (pool) => inForce.drainTimeoutMs(pool),
      moves: () => inForce.current().moves,
    });
    picker.tableChanged(table);
    degraded.tableChanged(table);
    parked.tableChanged(table);
    holdQueue.tableChanged();
    mover.tableChanged();
    reads.tableChanged();
  }

  stalled(noticedAt: Instant, limitMs: number): void {
    this.#parts.stallGate.stalled(this.#parts.policy().pools, noticedAt, limitMs);
  }

  async stopAccepting(): Promise<void> {
    await this.#serving;
    return this.#parts.listeners.closeWhenTaken();
  }

  whenEmpty(timeoutMs: number): Promise<void> {
    return this.#parts.registry.whenEmpty(this.#parts.clock, timeoutMs);
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    const perSecond = this.#parts.policy().client.maxDisconnectsPerSecond;
    await drainAll({ ...this.#parts, perSecond }, deadlineMs);
    this.close();
  }

  close(): void {
    this.#isStopping = true;
    const { listeners, registry, holdQueue, mover, drains, cancels, identity, keepalives, tcpTimeouts } = this.#parts;
    const { verifiers, positions } = this.#parts;
    listeners.close();
    for (const session of registry.all()) session.cut('shutdown');
    holdQueue.stop();
    mover.stop();
    this.#parts.reads.stop();
    verifiers.end();
    positions?.end();
    drains.stop();
    cancels.stop();
    identity.stop();
    keepalives.stop();
    tcpTimeouts.stop();
  }

  gather(): Promise<void> {
    return Promise.resolve();
  }

  sessions(query: SessionQuery): Promise<SessionList> {
    return Promise.resolve(listSessions(this.#parts.registry.all(), query));
  }

  kill(session: number): Promise<KillResult> {
    return Promise.resolve(killSession(this.#parts.registry.all(), session));
  }

  move(session: number, mayAbort = false): Promise<MoveResult> {
    return moveSession(this.#parts.registry.all(), { session, mayAbort }, this.#parts.mover.get());
  }

  preflight(member: MemberName): Promise<Preflight | undefined> {
    const { policy, mover, registry } = this.#parts;
    const there = registry.all().filter((session) => session.assignment()?.member === member);
    const asking = policy().moves && mover.get()?.preflight(there);
    return asking ?? Promise.resolve(undefined);
  }

  tally(): Tally {
    return { ...this.#parts.admission.tally(), ...this.#parts.registry.tally() };
  }

  knowsCancel(packet: Uint8Array): boolean {
    return this.#parts.cancels.isKnown(packet);
  }

  passOnCancel(packet: Uint8Array, pool: PoolName, onDone: (problem?: string) => void): void {
    this.#parts.cancels.passOnKnown(packet, pool, onDone);
  }

  clients(): ClientCounts {
    return { handshakes: this.#parts.admission.handshakes(), ...this.#parts.startups.counts() };
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return new Map([...this.#parts.registry.counts()].map(([name, counts]) => [name, this.#withHistory(name, counts)]));
  }

  trouble(): undefined {}

  workers(): readonly WorkerStatus[] {
    return [];
  }

  certificate(): CertificateStatus | undefined {
    return this.#parts.identity.status();
  }

  #accept({ pool, address: listener }: BoundListener, client: ProxySocket, awaitsHeader: boolean): void {
    const policy = this.#parts.pool(pool);
    this.#lastId += 1;
    if (policy === undefined) return;
    const session = new Session(this.#lastId, { policy, listener, client, awaitsHeader }, this.#parts);
    asStepOf(session, () => {
      keepContext(client);
      session.start();
    });
  }

  #withHistory(name: PoolName, counts: PoolCounts): PoolCounts {
    const pool = this.#parts.pool(name);
    return pool === undefined
      ? counts
      : {
          ...counts,
          ramping: this.#parts.picker.ramping(pool),
          latency: this.#parts.picker.latency.shown(pool),
          refusing: this.#parts.picker.refusals.shown(name),
          degradedSince: this.#parts.degraded.since(name),
          heldSince: this.#parts.holdQueue.longestSince(name),
          causalReads: this.#parts.reads.counts(name),
        };
  }
}
