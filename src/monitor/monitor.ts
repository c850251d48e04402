// The only owner of changing cluster state: one snapshot, and the table that its decider keeps of it. Every observation decides
// again; what follows for live sessions is handed over in the same step, synchronously.
import type { Action } from '../core/actions.ts';
import type { MonitorEvent, Trigger } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { checksOf, nextCheck, observe } from '../core/observe.ts';
import type { Observation, ProbeObservation } from '../model/observation.ts';
import type { PoolName, ProbePolicy, RoutingPolicy } from '../model/policy.ts';
import type { RefusedPrimary } from '../core/refused-primary.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import { emptySnapshot, withChecks, withDrained, withMembers, withResumed } from '../core/snapshot.ts';
import type { RefusalKind, Snapshot } from '../core/snapshot.ts';
import { isVanishing } from '../core/vanished.ts';
import { UrgentProbing } from './urgent-probing.ts';
import { changesBetween, evidenceChanges, probeEvent } from './changes.ts';
import { askSince } from './ask-since.ts';
import { Decider } from './decider.ts';
import type { DeciderOptions } from './decider.ts';
import { DiscoveryLoop } from './discovery-loop.ts';
import type { Discover } from './discovery-loop.ts';
import { ImminentPrimary } from './imminent-primary.ts';
import { Prober } from './prober.ts';
import type { Probe } from './prober.ts';
import { RefusalWatch } from './refusal-watch.ts';
import type { Accepting } from './refusal-watch.ts';
import { staleMember } from './staleness.ts';

export interface MonitorOptions {
  /** At first; see reconfigure(). */
  readonly policy: RoutingPolicy;
  /** Pins the cluster; undefined: the first answers do. */
  readonly scope: string | undefined;
  readonly probe: Probe;
  readonly discover: Discover;
  readonly clock: Clock;
  /** Epoch milliseconds, only to place a scheduled switchover; never compared with evidence. */
  readonly wallClock: () => number;
  readonly random: () => number;
  /** Called synchronously with each decision, when table() returns the new table already. Must not throw. */
  readonly onTable: (actions: readonly Action[]) => void;
  readonly onEvent: (event: MonitorEvent) => void;
  readonly onStall?: DeciderOptions['onStall'];
}

/** Between two refreshes that ask. Milliseconds. */
const LEAST_REFRESH_MS = 1000;

export class Monitor {
  readonly #options: MonitorOptions;
  readonly #probers = new Map<MemberName, Prober>();
  /** When a member's server was last seen to end a session by itself. */
  readonly #doubtedAt = new Map<MemberName, Instant>();
  readonly #discovery: DiscoveryLoop;
  readonly #urgent: UrgentProbing;
  readonly #imminent = new ImminentPrimary();
  readonly #refusals: RefusalWatch;
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
    this.#decider = new Decider({
      known: () => ({ policy: this.#policy, snapshot: this.#snapshot }),
      clock,
      onTable,
      onStall: options.onStall,
      onDecided: (...tables) => this.#tellDecided(...tables),
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
    this.#refusals = new RefusalWatch({ probe, clock, onEvent, seekLeader: (not) => this.#discovery.seekLeader(not) });
  }

  /** Begins to discover and to probe. Nothing is routed before the first complete round. */
  start(): void {
    this.#discovery.start();
  }

  stop(): void {
    this.#isStopped = true;
    this.#decider.stop();
    this.#discovery.stop();
    for (const prober of this.#probers.values()) prober.stop();
  }

  /** Decides anew in this step, and asks at once what was not asked before: until then live sessions stay (never_answered). */
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
   * Somebody says that something happened: reads /cluster again, asks everybody at once and goes on at the urgent pace. Told so more
   * than once a second it does nothing more: that pace is on. True when it asked.
   */
  refresh(): boolean {
    const { clock, onEvent } = this.#options;
    const isMerged = clock.now() - this.#refreshedAt < LEAST_REFRESH_MS;
    onEvent({ kind: 'refresh_asked', isMerged });
    if (isMerged) return false;
    this.#refreshedAt = clock.now();
    this.#trigger('refresh', true);
    this.#discovery.refresh();
    for (const prober of this.#probers.values()) prober.soon(0);
    return true;
  }

  /** Takes the member out of every pool, in this step, until it is resumed. False: nobody has that name. */
  drain(member: MemberName): boolean {
    if (!this.#snapshot.members.has(member)) return false;
    this.#snapshot = withDrained(this.#snapshot, member, this.#options.clock.now());
    this.#options.onEvent({ kind: 'member_drained', member });
    this.#decider.decide();
    return true;
  }

  /** Takes a drain back. False: nobody has that name, and no drained member had it. */
  resume(member: MemberName): boolean {
    if (!this.#snapshot.members.has(member) && !this.#snapshot.drained.has(member)) return false;
    this.#snapshot = withResumed(this.#snapshot, member);
    this.#options.onEvent({ kind: 'member_resumed', member });
    this.#decider.decide();
    return true;
  }

  /** Primaries that are not believed, while there is no other. */
  refusedPrimaries(): readonly RefusedPrimary[] {
    return this.#refusals.refused(this.#snapshot);
  }

  /** Believes the one primary that is refused for this, in this step. */
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
   * Somebody saw from outside that members, or their roles, may be others now. That is no evidence: they are asked a little sooner, at no
   * faster pace.
   */
  hint(): void {
    this.#discovery.refresh();
    for (const prober of this.#probers.values()) prober.soon(this.#policy.probe.urgent.intervalMs);
  }

  /** `discover` leads elsewhere from now on: members that it does not find leave. */
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

  snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Something the proxy met: probe faster for a while. */
  trigger(trigger: Trigger): void {
    switch (trigger.kind) {
      case 'backend_closed':
        return this.#distrust(trigger.member);
      case 'landed_on_standby':
        this.#take({ kind: 'landing', member: trigger.member, startedAt: this.#options.clock.now() });
        this.#distrust(trigger.member);
        return this.#trigger(trigger.kind);
      case 'connect_slow':
        return this.#probers.get(trigger.member)?.soon(this.#policy.probe.urgent.intervalMs);
      case 'backend_reset':
      case 'dial_failed':
      case 'clients_held':
        return this.#trigger(trigger.kind);
    }
  }

  /**
   * Undefined while the open member of an exclusive pool has evidence younger than one probe interval and than any
   * doubt; else resolves when it has been asked again, at most once per urgent interval. A vouched member is not asked:
   * that it is silent is known. Never rejects. With `since` every member that may have sessions of the pool is asked,
   * unless a probe of it began after that instant.
   */
  freshen(pool: PoolName, since?: Instant): Promise<void> | undefined {
    if (since !== undefined) return this.#askSince(pool, since);
    const stale = this.#stale(pool);
    return stale === undefined ? undefined : this.#askAgain(pool, stale);
  }

  #askSince(pool: PoolName, since: Instant): Promise<void> {
    const [table, snapshot] = [this.#decider.table(), () => this.#snapshot];
    return askSince(pool, since, { table, snapshot, ask: (name) => this.#probers.get(name)?.ask(0) });
  }

  async #askAgain(pool: PoolName, member: MemberName): Promise<void> {
    // Doubts may come at any rate, and any client can cause them: members are not asked at that rate.
    const leastMs = this.#policy.probe.urgent.intervalMs;
    await this.#probers.get(member)?.ask(leastMs);
    // A round that was under way may have begun before the doubt: a second one has not.
    const stale = this.#stale(pool);
    if (stale !== undefined) await this.#probers.get(stale)?.ask(leastMs);
  }

  #stale(pool: PoolName): MemberName | undefined {
    return staleMember(pool, {
      policy: this.#policy,
      table: this.#decider.table(),
      snapshot: this.#snapshot,
      doubtedAt: this.#doubtedAt,
      now: this.#options.clock.now(),
    });
  }

  /** Patroni says `stopping` before PostgreSQL ends its first session, so evidence from before that end is worth nothing. */
  #distrust(member: MemberName): void {
    this.#doubtedAt.set(member, this.#options.clock.now());
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
  }

  #tellDecided(previous: RoutingTable, next: RoutingTable): void {
    for (const change of changesBetween(previous, next)) {
      this.#options.onEvent(change);
      if (change.kind === 'route_changed') this.#discovery.refresh();
    }
    this.#sniffRoutes(next);
  }

  /**
   * Without a primary every moment counts. That a member is about to take writes is news, which begins the urgent time
   * anew.
   */
  #sniffRoutes(table: RoutingTable): void {
    const imminent = this.#imminent.read(this.#policy, table, this.#snapshot);
    if (!this.#snapshot.complete) return;
    if (this.#sought().size > 0) this.#trigger(imminent ?? 'no_primary', imminent !== undefined);
  }

  /** An answer other than yes from the member a write pool uses. */
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

  /** Checks of exclusive pools that have nobody at the moment. */
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
    this.#doubtedAt.delete(name);
  }
}
