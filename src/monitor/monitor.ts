// Owns the cluster state: one snapshot, and the decider that keeps the routing table of it. Every observation leads to
// a new decision. Its actions on live sessions are handed over synchronously.
import type { Trigger } from '../reports/trigger.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { observe } from '../core/observe.ts';
import { checksOf } from '../core/next-check.ts';
import type { LandingObservation, Observation, ProbeObservation } from '../model/observation.ts';
import type { PoolName, ProbePolicy, RoutingPolicy } from '../model/policy.ts';
import type { RefusedPrimary } from '../core/refused-primary.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import { emptySnapshot, withChecks, withDrained, withMembers, withResumed } from '../core/snapshot.ts';
import type { Handover, RefusalKind, Snapshot } from '../core/snapshot.ts';
import type { WalEvidence } from '../core/wal-samples.ts';
import { changesBetween, evidenceChanges, probeEvent } from './changes.ts';
import { Decider, type DecisionFacts } from './decider.ts';
import { DiscoveryLoop } from './discovery-loop.ts';
import { Freshness } from './freshness.ts';
import type { MonitorOptions } from './options.ts';
import { Pace } from './pace.ts';
import { Prober } from './prober.ts';
import { Probers } from './probers.ts';
import { RefusalWatch, type AcceptOutcome } from './refusal-watch.ts';
import { TimelineHistory } from './timeline-history.ts';

/** Requests for a refresh within this time of the last refresh are merged with it. Milliseconds. */
const MIN_REFRESH_MS = 1000;

export class Monitor {
  readonly #options: MonitorOptions;
  readonly #probers: Probers;
  readonly #discovery: DiscoveryLoop;
  readonly #pace: Pace;
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
      probeNow: (member, minMs) => this.#probers.of(member)?.probeNow(minMs),
    });
    const probe = (): ProbePolicy => this.#policy.probe;
    this.#pace = new Pace({
      known,
      table: () => this.#decider.table(),
      clock,
      onEvent,
      onFaster: () => this.#probers.reschedule(),
    });
    this.#probers = new Probers(
      (name) =>
        new Prober({
          ...options,
          member: () => this.#snapshot.members.get(name)?.member,
          timeoutMs: () => this.#policy.probe.timeoutMs,
          nextCheck: (roundAt) => this.#pace.nextCheck(name, roundAt),
          intervalMs: () => this.#pace.intervalMs(name),
          onObservation: (observation, durationMs) => this.#takeProbe(observation, durationMs),
        }),
    );
    this.#discovery = new DiscoveryLoop({
      ...options,
      probe,
      beforeSwitchoverMs: () => this.#policy.hold.beforeSwitchoverMs,
      onNewList: (list) => {
        this.#snapshot = withMembers(this.#snapshot, list);
      },
      onObservation: (observation) => this.#take(observation),
      onTrigger: (name) => this.#pace.trigger(name),
    });
    this.#history = new TimelineHistory({
      read: () => options.readHistory?.(),
      clock,
      snapshot: () => this.#snapshot,
      onEnds: (timelineEnds) => this.#change({ ...this.#snapshot, timelineEnds }),
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
    this.#pace.stop();
    this.#probers.stop();
  }

  /**
   * Decides again synchronously and probes new checks at once. Until their first answer live sessions stay
   * (never_answered).
   */
  reconfigure(policy: RoutingPolicy): void {
    const before = new Set(checksOf(this.#policy).map(({ text }) => text));
    const checks = new Set(checksOf(policy).map(({ text }) => text));
    this.#policy = policy;
    this.#change(withChecks(this.#snapshot, checks));
    this.#probers.reschedule();
    if (!checks.isSubsetOf(before)) this.#probers.soon(0);
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
    this.#pace.trigger('refresh', true);
    this.#discovery.refresh();
    this.#probers.soon(0);
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
    this.#change({ ...this.#snapshot, handover });
  }

  /** Primaries that are refused, while no other primary is known. */
  refusedPrimaries(): readonly RefusedPrimary[] {
    return this.#refusals.refused(this.#snapshot);
  }

  /** Accepts, synchronously, the only primary that is refused for `kind`. */
  accept(kind: RefusalKind): AcceptOutcome {
    const accepting = this.#refusals.accept(kind, this.#snapshot);
    if (accepting.kind === 'impossible') return accepting;
    const before = this.#snapshot;
    this.#snapshot = accepting.snapshot;
    this.#refusals.read(before, accepting.snapshot);
    this.#decider.decide();
    this.#probers.soon(0);
    return accepting;
  }

  /**
   * For an outside hint that members or roles may have changed. A hint is no evidence: it only brings the next probes
   * forward.
   */
  hint(): void {
    this.#discovery.refresh();
    this.#probers.soon(this.#policy.probe.urgent.intervalMs);
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
  wal(): WalEvidence {
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
        return this.#pace.trigger(trigger.kind);
      case 'left_recovery':
        return this.#takeLanding(trigger.member, 'primary');
      case 'connect_slow':
        return this.#probers.of(trigger.member)?.soon(this.#policy.probe.urgent.intervalMs);
      case 'backend_reset':
      case 'backend_tcp_timeout':
      case 'dial_failed':
      case 'clients_held':
        return this.#pace.trigger(trigger.kind);
    }
  }

  /** See Freshness. */
  freshen(pool: PoolName, since?: Instant): Promise<void> | undefined {
    return this.#freshness.freshen(pool, since);
  }

  /** Patroni reports `stopping` before PostgreSQL ends its first session, so evidence from before that end is void. */
  #distrust(member: MemberName): void {
    this.#freshness.doubt(member);
    this.#probers.of(member)?.soon(this.#policy.probe.urgent.intervalMs);
  }

  #takeProbe(observation: ProbeObservation, durationMs: number): void {
    this.#options.onEvent(probeEvent(observation, durationMs));
    this.#take(observation);
    // Another member's answer tells that the host has vanished, and not the network of this one.
    const hasVanished = this.#snapshot.members.get(observation.member)?.failure?.vanishedAt === observation.startedAt;
    if (hasVanished) this.#probers.soon(this.#policy.probe.urgent.intervalMs);
    const doubtful = this.#pace.answered(observation.member);
    if (doubtful !== undefined) this.#discovery.seekVouch(doubtful);
  }

  #takeLanding(member: MemberName, by: LandingObservation['by']): void {
    this.#take({ kind: 'landing', member, startedAt: this.#options.clock.now(), by });
  }

  #take(observation: Observation): void {
    if (this.#isStopped) return;
    const before = this.#snapshot;
    this.#snapshot = observe(this.#policy, before, observation);
    for (const event of evidenceChanges(before, this.#snapshot, observation)) this.#options.onEvent(event);
    if (observation.kind === 'members') {
      const { added, removed } = this.#probers.follow(this.#snapshot.members);
      for (const name of removed) this.#freshness.forget(name);
      if (added.length + removed.length > 0) this.#options.onEvent({ kind: 'members_changed', added, removed });
    }
    this.#refusals.read(before, this.#snapshot);
    this.#decider.decide();
    this.#history.look();
  }

  #change(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#decider.decide();
  }

  #reportDecided(previous: RoutingTable, next: RoutingTable): void {
    for (const change of changesBetween(previous, next)) {
      this.#options.onEvent(change, next.decidedAt);
      if (change.kind === 'route_changed') this.#discovery.refresh();
    }
    this.#pace.decided(next);
  }
}
