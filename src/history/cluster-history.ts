// The one account of routes, primaries, waiting clients and TLS to members in this run, for metrics, documents and
// summaries. Pure but for the clocks that it is given.
import { openPrimary, primaryPools, type PoliciesAndTable } from '../core/primary-pools.ts';
import { isAnswering, type Snapshot } from '../core/snapshot.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { ScheduledSwitchover } from '../model/observation.ts';
import type { PoolName } from '../model/policy.ts';
import type { Plan, ReportedEvent } from '../reports/events.ts';
import { MemberHandshakes } from './member-handshakes.ts';
import { judgement, type Witness } from './planned-or-not.ts';
import { PrimaryHistory, type PrimaryChange, type PrimaryTerm } from './primary-history.ts';
import { RouteHistory, type Interruption, type Moment, type RouteChange } from './route-history.ts';
import { WaitingClients, isHold } from './waiting-clients.ts';

export interface ClusterHistoryOptions {
  /** The newest decision, and its snapshot. */
  readonly known: () => PoliciesAndTable & { readonly snapshot: Snapshot };
  /** The events of the last minute, or of the incident that is open. */
  readonly recorded: () => readonly Witness[];
  readonly now: () => Instant;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
}

export class ClusterHistory {
  readonly #options: ClusterHistoryOptions;
  readonly routes: RouteHistory;
  readonly waiting = new WaitingClients();
  readonly handshakes = new MemberHandshakes();
  readonly #primaries = new PrimaryHistory();
  /** The switchover that the cluster had scheduled at the last loss. */
  #scheduledAtLoss: readonly ScheduledSwitchover[] = [];
  readonly #plans = new Map<PoolName, Plan>();

  constructor(options: ClusterHistoryOptions) {
    this.#options = options;
    this.routes = new RouteHistory(this.#moment(options.now()));
  }

  /** To be called with each decision, before its events. */
  decided(): void {
    // The primary may have been promoted in place.
    const { member } = this.primary() ?? {};
    if (member !== undefined) this.#serves(member, this.#moment(this.#options.known().table.decidedAt), undefined);
  }

  /** `at`: when it happened, which may be before this call. */
  take(event: ReportedEvent, at: Instant): void {
    this.handshakes.take(event, at);
    if (isHold(event)) this.waiting.take(event);
    else if (event.kind === 'route_changed') this.#takeRoute(event, this.#moment(at));
    else if (event.kind === 'config_reloaded') this.#takePolicy(this.#moment(at));
  }

  /** False: the configuration in effect has no such pool. */
  hasPool(pool: PoolName): boolean {
    return this.#options.known().policy.pools.some(({ name }) => name === pool);
  }

  /** Undefined while no member may take writes. */
  primary(): PrimaryTerm | undefined {
    const term = this.#primaries.lastTerm();
    return term?.member === openPrimary(this.#options.known()) ? term : undefined;
  }

  primaryChanges(): ReturnType<PrimaryHistory['changes']> {
    return this.#primaries.changes();
  }

  /** Whether the last interruption of a pool for writes was planned. Undefined: none is over. */
  lastPlan(pool: PoolName): Plan | undefined {
    return this.#plans.get(pool);
  }

  /** The newest one of a pool for writes. Undefined: none has had a route and lost it. */
  lastInterruption(): Interruption | undefined {
    const all = primaryPools(this.#options.known().policy).flatMap(({ name }) => this.routes.interruption(name) ?? []);
    return all
      .filter(({ before }) => before !== undefined)
      .toSorted((a, b) => a.from.at - b.from.at)
      .at(-1);
  }

  #takeRoute(change: RouteChange, moment: Moment): void {
    const ended = this.routes.take(change, moment);
    const known = this.#options.known();
    if (!primaryPools(known.policy).some(({ name }) => name === change.pool)) return;
    // Not at a change of the hold: the cluster may no longer list the switchover then.
    if (change.from?.kind === 'open')
      this.#scheduledAtLoss = [known.snapshot.switchover].filter((one) => one !== undefined);
    if (ended !== undefined) {
      this.#plans.set(change.pool, judgement(ended, this.#options.recorded(), this.#scheduledAtLoss).planned);
    }
    this.#takePrimary(moment, change.pool);
  }

  /** A removed pool may have been the only one for writes that the primary did not serve. */
  #takePolicy(moment: Moment): void {
    const { policy } = this.#options.known();
    this.routes.retain(new Set(policy.pools.map(({ name }) => name)), moment);
    const [pool] = primaryPools(policy);
    if (pool !== undefined) this.#takePrimary(moment, pool.name);
  }

  #takePrimary(moment: Moment, pool: PoolName): void {
    const member = openPrimary(this.#options.known());
    if (member !== undefined) this.#serves(member, moment, this.lastPlan(pool));
  }

  #serves(member: MemberName, moment: Moment, lossPlan: Plan | undefined): void {
    const timeline = this.#options.known().snapshot.members.get(member)?.status?.timeline;
    this.#primaries.serves(member, timeline, moment, this.#kindOf(lossPlan));
  }

  /** A switchover by another tool may happen between two probes: no report shows it, and the old primary answers. */
  #kindOf(lossPlan: Plan | undefined): PrimaryChange {
    const old = this.#primaries.lastTerm()?.member;
    const isAlive = old !== undefined && isAnswering(this.#options.known().snapshot.members.get(old));
    return lossPlan === 'planned' || (lossPlan === 'unknown' && isAlive) ? 'switchover' : 'failover';
  }

  #moment(at: Instant): Moment {
    const { now, wallClock } = this.#options;
    return { at, wallClock: wallClock() - (now() - at) };
  }
}
