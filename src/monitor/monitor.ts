// Owns the cluster state: one snapshot, and the decider that keeps the routing table of it. Every observation leads to
// a new decision. Its actions on live sessions are handed over synchronously.
import type { Trigger } from '../reports/trigger.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { observe } from '../core/observe.ts';
import { checksOf, nextCheck } from '../core/next-check.ts';
import type { LandingObservation, Observation, ProbeObservation } from '../model/observation.ts';
import type { PoolName, ProbePolicy, RoutingPolicy } from '../model/policy.ts';
import type { RefusedPrimary } from '../core/refused-primary.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import { emptySnapshot, withChecks, withDrained, withMembers, withResumed } from '../core/snapshot.ts';
import type { Handover, RefusalKind, Snapshot } from '../core/snapshot.ts';
import type { WalKnown } from '../core/wal-samples.ts';
import { isVanishing } from '../core/vanished.ts';
import { UrgentProbing } from './urgent-probing.ts';
import { changesBetween, evidenceChanges, probeEvent } from './changes.ts';
import { Decider } from './decider.ts';
import type { DecisionFacts } from './decider.ts';
import { DiscoveryLoop } from './discovery-loop.ts';
import { Freshness } from './freshness.ts';
import { ImminentPrimary } from './imminent-primary.ts';
import type { MonitorOptions } from './options.ts';
import { Prober } from './prober.ts';
import { RefusalWatch } from './refusal-watch.ts';
import type { Accepting } from './refusal-watch.ts';
import { TimelineHistory } from './timeline-history.ts';

/** Requests for a refresh within this time of the last refresh are merged with it. Milliseconds. */
const MIN_REFRESH_MS = 1000;

export class Monitor {
  readonly #options: MonitorOptions;
  readonly #probers = new Map<MemberName, Prober>();
  readonly #discovery: DiscoveryLoop;
  readonly #urgent: UrgentProbing;
  readonly #imminent = new ImminentPrimary();
  readonly #freshness: Freshness;
  readonly #refusals: RefusalWatch;
  readonly #history: TimelineHistory;
  #policy: RoutingPolicy;
  #snapshot: Snapshot;
  readonly #decider: Decider;
  #refreshedAt: Instant = -Infinity;
  #isStopped = false;

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#snapshot = emptySnapshot(options.scope);
    const { clock, onEvent, onTable } = options;
    const known = (): DecisionFacts => ({ policy: this.#policy, snapshot: this.#snapshot });
    this.#decider = new Decider({
      known,
      clock,
      onTable,
      onStall: options.onStall,
      onDecided: (...tables) => this.#reportDecided(...tables),
    });
    this.#freshness = new Freshness({
      clock,
      known,
      table: () => this.#decider.table(),
      probeNow: (member, minMs) => this.#probers.get(member)?.probeNow(minMs),
    });
    const probe = (): ProbePolicy => this.#policy.probe;
    this.#urgent = new UrgentProbing({ policy: probe, clock, onEvent, onFaster: () => this.#reschedule() });
    this.#discovery = new DiscoveryLoop({
      ...options,
      probe,
      beforeSwitchoverMs: () => this.#policy.hold.beforeSwitchoverMs,
      onNewList: (list) => {
        this.#snapshot = withMembers(this.#snapshot, list);
      },
      onObservation: (observation) => this.#take(observation),
      onTrigger: (name) => this.#trigger(name),
    });
    this.#history = new TimelineHistory({
      read: () => options.readHistory?.(),
      clock,
      snapshot: () => this.#snapshot,
      onEnds: (timelineEnds) => {
        this.#snapshot = { ...this.#snapshot, timelineEnds };
        this.#decider.decide();
      },
    });
    this.#refusals = new RefusalWatch({ probe, clock, onEvent, seekLeader: (not) => this.#discovery.seekLeader(not) });
  }

  /** Starts discovery and probes. Nothing is routed before the first complete round. */
  start(): void {
    this.#discovery.start();
  }

  stop(): void {
    this.#isStopped = true;
    this.#decider.stop();
    this.#discovery.stop();
    for (const prober of this.#probers.values()) prober.stop();
  }

  /**
   * Decides again synchronously and probes new checks at once. Until their first answer live sessions stay
   * (never_answered).
   */
  reconfigure(policy: RoutingPolicy): void {
    const before = new Set(checksOf(this.#policy).map(({ text }) => text));
    const checks = new Set(checksOf(policy).map(({ text }) => text));
    this.#policy = policy;
    this.#snapshot = withChecks(this.#snapshot, checks);
    this.#decider.decide();
    this.#reschedule();
    if (checks.isSubsetOf(before)) return;
    for (const prober of this.#probers.values()) prober.soon(0);
  }

  /**
   * For an outside report that the cluster changed: reads /cluster, probes all members at once and keeps the urgent
   * pace for a while. Calls within one second are merged. Returns false for a merged call.
   */
  refresh(): boolean {
    const { clock, onEvent } = this.#options;
    const isMerged = clock.now() - this.#refreshedAt < MIN_REFRESH_MS;
    onEvent({ kind: 'refresh_requested', isMerged });
    if (isMerged) return false;
    this.#refreshedAt = clock.now();
    this.#trigger('refresh', true);
    this.#discovery.refresh();
    for (const prober of this.#probers.values()) prober.soon(0);
    return true;
  }

  /** Takes the member out of every pool synchronously, until resume(). Returns false for an unknown name. */
  drain(member: MemberName): boolean {
    if (!this.#snapshot.members.has(member)) return false;
    this.#snapshot = withDrained(this.#snapshot, member, this.#options.clock.now());
    this.#options.onEvent({ kind: 'member_drained', member });
    this.#decider.decide();
    return true;
  }

  /** Undoes drain(). Returns false when no member and no drained member has that name. */
  resume(member: MemberName): boolean {
    if (!this.#snapshot.members.has(member) && !this.#snapshot.drained.has(member)) return false;
    this.#snapshot = withResumed(this.#snapshot, member);
    this.#options.onEvent({ kind: 'member_resumed', member });
    this.#decider.decide();
    return true;
  }

  /** Takes sessions away from a primary that hands over, synchronously. Undefined: the handover is over. */
  handOver(handover: Handover | undefined): void {
    this.#snapshot = { ...this.#snapshot, handover };
    this.#decider.decide();
  }

  /** Primaries that are refused, while no other primary is known. */
  refusedPrimaries(): readonly RefusedPrimary[] {
    return this.#refusals.refused(this.#snapshot);
  }

  /** Accepts, synchronously, the only primary that is refused for `kind`. */
  accept(kind: RefusalKind): Accepting {
    const accepting = this.#refusals.accept(kind, this.#snapshot);
    if (accepting.kind === 'impossible') return accepting;
    const before = this.#snapshot;
    this.#snapshot = accepting.snapshot;
    this.#refusals.read(before, this.#snapshot);
    this.#decider.decide();
    for (const prober of this.#probers.values()) prober.soon(0);
    return accepting;
  }

  /**
   * For an outside hint that members or roles may have changed. A hint is no evidence: it only brings the next probes
   * forward.
   */
  hint(): void {
    this.#discovery.refresh();
    for (const prober of this.#probers.values()) prober.soon(this.#policy.probe.urgent.intervalMs);
  }

  /** `discover` has new contact points: members that it no longer finds are removed. */
  rediscover(): void {
    this.#discovery.startAnew();
  }

  /** As it was last decided. A pure read. */
  table(): RoutingTable {
    return this.#decider.table();
  }

  /** Decides now if the table is no longer valid. May end sessions. See Decider. */
  decideIfDue(): void {
    this.#decider.decideIfDue();
  }

  /** For the proof that a session lost nothing. Empty unless there is `readHistory`. */
  wal(): WalKnown {
    return this.#decider.wal();
  }

  snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** For what the proxy noticed on a connection: a reason to probe early. */
  trigger(trigger: Trigger): void {
    switch (trigger.kind) {
      case 'backend_closed':
        return this.#distrust(trigger.member);
      case 'landed_on_standby':
        this.#takeLanding(trigger.member, trigger.isPooler ? 'pooler' : 'standby');
        this.#distrust(trigger.member);
        return this.#trigger(trigger.kind);
      case 'left_recovery':
        return this.#takeLanding(trigger.member, 'primary');
      case 'connect_slow':
        return this.#probers.get(trigger.member)?.soon(this.#policy.probe.urgent.intervalMs);
      case 'backend_reset':
      case 'dial_failed':
      case 'clients_held':
        return this.#trigger(trigger.kind);
    }
  }

  /** See Freshness. */
  freshen(pool: PoolName, since?: Instant): Promise<void> | undefined {
    return this.#freshness.freshen(pool, since);
  }

  #takeLanding(member: MemberName, by: LandingObservation['by']): void {
    this.#take({ kind: 'landing', member, by, startedAt: this.#options.clock.now() });
  }

  /** Patroni reports `stopping` before PostgreSQL ends its first session, so evidence from before that end is void. */
  #distrust(member: MemberName): void {
    this.#freshness.doubt(member);
    this.#probers.get(member)?.soon(this.#policy.probe.urgent.intervalMs);
  }

  #takeProbe(observation: ProbeObservation, durationMs: number): void {
    this.#options.onEvent(probeEvent(observation, durationMs));
    this.#take(observation);
    this.#checkForTriggers(observation);
  }

  #take(observation: Observation): void {
    if (this.#isStopped) return;
    const before = this.#snapshot;
    this.#snapshot = observe(this.#policy, before, observation);
    for (const event of evidenceChanges(before, this.#snapshot, observation)) this.#options.onEvent(event);
    if (observation.kind === 'members') this.#followMembers();
    this.#refusals.read(before, this.#snapshot);
    this.#decider.decide();
    this.#history.look();
  }

  #reportDecided(previous: RoutingTable, next: RoutingTable): void {
    for (const change of changesBetween(previous, next)) {
      this.#options.onEvent(change, next.decidedAt);
      if (change.kind === 'route_changed') this.#discovery.refresh();
    }
    this.#checkRoutesForTriggers(next);
  }

  /**
   * A pool without a primary is a trigger. A member that is about to take writes is news, which restarts the urgent
   * time.
   */
  #checkRoutesForTriggers(table: RoutingTable): void {
    const imminent = this.#imminent.read(this.#policy, table, this.#snapshot);
    if (!this.#snapshot.complete) return;
    if (this.#sought().size > 0) this.#trigger(imminent ?? 'no_primary', imminent !== undefined);
  }

  /** A member of an exclusive pool whose answer is not yes is a trigger. */
  #checkForTriggers(observation: ProbeObservation): void {
    for (const pool of this.#policy.pools) {
      const record = this.#snapshot.members.get(observation.member);
      const standing = this.#decider.table().pools.get(pool.name)?.standings.get(observation.member);
      if (!pool.exclusive || record === undefined || standing === undefined || standing.kind === 'leave') continue;
      const isYes = record.failure === undefined && standing.kind === 'open';
      if (isYes) continue;
      this.#trigger('primary_not_positive');
      this.#discovery.seekVouch(record);
    }
  }

  #followMembers(): void {
    const removed = [...this.#probers.keys()].filter((name) => !this.#snapshot.members.has(name));
    const added: MemberName[] = [];
    for (const name of removed) this.#stopProber(name);
    for (const name of this.#snapshot.members.keys()) {
      if (this.#probers.has(name)) continue;
      added.push(name);
      const prober = this.#newProber(name);
      this.#probers.set(name, prober);
      prober.start();
    }
    if (added.length + removed.length > 0) this.#options.onEvent({ kind: 'members_changed', added, removed });
  }

  /** The checks of exclusive pools that have no open member. */
  #sought(): ReadonlySet<string> {
    const idle = this.#policy.pools.filter(
      (pool) => pool.exclusive && this.#decider.table().pools.get(pool.name)?.route.kind !== 'open',
    );
    return new Set(idle.map((pool) => pool.check.text));
  }

  #newProber(name: MemberName): Prober {
    const { probe, clock, random } = this.#options;
    return new Prober({
      member: () => this.#snapshot.members.get(name)?.member,
      probe,
      timeoutMs: () => this.#policy.probe.timeoutMs,
      clock,
      random,
      nextCheck: (roundAt) => {
        const record = this.#snapshot.members.get(name);
        return record === undefined ? undefined : nextCheck(this.#policy, record, roundAt, this.#sought());
      },
      intervalMs: () => this.#imminent.intervalMs(name, this.#policy, this.#usualMs(name), clock.now()),
      onObservation: (observation, durationMs) => this.#takeProbe(observation, durationMs),
    });
  }

  #usualMs(name: MemberName): number {
    const { probe } = this.#policy;
    const record = this.#snapshot.members.get(name);
    const usualMs = this.#urgent.intervalMs();
    return record !== undefined && isVanishing(record, probe) ? Math.min(usualMs, probe.urgent.intervalMs) : usualMs;
  }

  #trigger(name: string, isNews = false): void {
    if (!this.#isStopped) this.#urgent.trigger(name, isNews);
  }

  #reschedule(): void {
    for (const prober of this.#probers.values()) prober.reschedule();
  }

  #stopProber(name: MemberName): void {
    this.#probers.get(name)?.stop();
    this.#probers.delete(name);
    this.#freshness.forget(name);
  }
}
