// How often members are probed, and with which check. Holds the current episode of urgent probing: its triggers and the
// probe interval. Reports its start and its end.
import { nextCheck } from '../core/next-check.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { MemberRecord } from '../core/snapshot.ts';
import { isVanishing } from '../core/vanished.ts';
import type { Check } from '../model/check.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { MonitorEvent } from '../reports/monitor-events.ts';
import type { DecisionFacts } from './decider.ts';
import { ImminentPrimary } from './imminent-primary.ts';
import type { ProbePolicy } from '../model/policy.ts';

export interface PaceOptions {
  readonly known: () => DecisionFacts;
  readonly table: () => RoutingTable;
  readonly clock: Clock;
  readonly onEvent: (event: MonitorEvent) => void;
  /** The interval became shorter: scheduled rounds come too late. */
  readonly onFaster: () => void;
}

export class Pace {
  readonly #options: PaceOptions;
  readonly #imminent = new ImminentPrimary();
  #urgency: Urgency | undefined;
  #triggers = new Set<string>();
  #isOn = false;
  #isStopped = false;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** `isNews` restarts the urgent time, once per episode and name. */
  trigger(name: string, isNews = false): void {
    if (this.#isStopped) return;
    const { clock, known, onFaster } = this.#options;
    const { probe } = known().policy;
    const now = clock.now();
    if (!isUrgent(this.#urgency, now)) this.#triggers = new Set();
    const before = roundIntervalMs(probe, this.#urgency, now);
    this.#urgency = triggered(this.#urgency, now, isNews && !this.#triggers.has(name));
    this.#triggers.add(name);
    this.#report();
    if (roundIntervalMs(probe, this.#urgency, now) < before) onFaster();
  }

  /** A pool without a primary is a trigger. A member that is about to take writes is news. */
  decided(table: RoutingTable): void {
    const { policy, snapshot } = this.#options.known();
    const imminent = this.#imminent.read(policy, table, snapshot);
    if (snapshot.complete && this.#sought().size > 0) this.trigger(imminent ?? 'no_primary', imminent !== undefined);
  }

  /** A member of an exclusive pool whose answer is not yes is a trigger. It is returned: another may vouch for it. */
  answered(member: MemberName): MemberRecord | undefined {
    const { policy, snapshot } = this.#options.known();
    const record = snapshot.members.get(member);
    const isDoubtful = policy.pools.some(({ name, exclusive }) => {
      const kind = this.#options.table().pools.get(name)?.standings.get(member)?.kind ?? 'leave';
      return exclusive && kind !== 'leave' && (kind !== 'open' || record?.failure !== undefined);
    });
    if (record === undefined || !isDoubtful) return undefined;
    this.trigger('primary_not_positive');
    return record;
  }

  /** Undefined ends the round that began at `roundAt`. */
  nextCheck(name: MemberName, roundAt: Instant): Check | undefined {
    const { policy, snapshot } = this.#options.known();
    const record = snapshot.members.get(name);
    return record && nextCheck(policy, record, roundAt, this.#sought());
  }

  /** Between the starts of two rounds of the member, before jitter. Milliseconds. */
  intervalMs(name: MemberName): number {
    const { clock, known } = this.#options;
    const { policy, snapshot } = known();
    const { probe } = policy;
    this.#report();
    const record = snapshot.members.get(name);
    const ms = roundIntervalMs(probe, this.#urgency, clock.now());
    const usualMs = record !== undefined && isVanishing(record, probe) ? Math.min(ms, probe.urgent.intervalMs) : ms;
    return this.#imminent.intervalMs(name, policy, usualMs, clock.now());
  }

  /** Triggers have no effect any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The checks of exclusive pools that have no open member. */
  #sought(): ReadonlySet<string> {
    const { pools } = this.#options.table();
    const idle = this.#options
      .known()
      .policy.pools.filter(({ name, exclusive }) => exclusive && pools.get(name)?.route.kind !== 'open');
    return new Set(idle.map(({ check }) => check.text));
  }

  #report(): void {
    const isOn = isUrgent(this.#urgency, this.#options.clock.now());
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#options.onEvent({ kind: 'urgent_probing', on: isOn, triggers: [...this.#triggers] });
  }
}

/** An episode of urgent probing. */
interface Urgency {
  readonly since: Instant;
  readonly triggeredAt: Instant;
}

/** An episode ends after this long without a trigger. Milliseconds. */
const CALM_AFTER_MS = 2000;
/** After `urgent.for` the interval doubles once in this time. Milliseconds. */
const DOUBLE_EVERY_MS = 5000;

/** `isNews`: the first trigger of its kind in this episode (such as a promotion); it restarts the episode. */
function triggered(urgency: Urgency | undefined, now: Instant, isNews: boolean): Urgency {
  return { since: isUrgent(urgency, now) && !isNews ? urgency.since : now, triggeredAt: now };
}

function isUrgent(urgency: Urgency | undefined, now: Instant): urgency is Urgency {
  return urgency !== undefined && now - urgency.triggeredAt < CALM_AFTER_MS;
}

/** Between the starts of two rounds, before jitter. Milliseconds. */
function roundIntervalMs(probe: ProbePolicy, urgency: Urgency | undefined, now: Instant): number {
  if (!isUrgent(urgency, now)) return probe.intervalMs;
  const overtime = now - urgency.since - probe.urgent.forMs;
  if (overtime <= 0) return probe.urgent.intervalMs;
  return Math.min(probe.intervalMs, probe.urgent.intervalMs * 2 ** Math.ceil(overtime / DOUBLE_EVERY_MS));
}
