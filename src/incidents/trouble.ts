// Notices trouble in the events: what opens an incident, and whether it goes on. A state machine without a clock: the
// time of each event comes with it.
import type { Route } from '../core/routing-table.ts';
import { CLOSE_REASONS, type CloseReason } from '../model/close-reason.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';
import type { EventOf, ReportedEvent } from '../reports/events.ts';
import type { IncidentKind } from './schema.ts';

/** An incident opens when this many sessions are evicted within EVICTIONS_MS. */
const MANY_EVICTIONS = 10;
const EVICTIONS_MS = 10_000;

/** The same with causal reads that were refused, or ran although they were late. */
const MANY_LATE = 10;

/** One lost probe of the only member is no silence of all. */
const SILENT_PROBES = 2;

/** A cluster that starts together with Pointsman has so much time until its first primary is missed. Milliseconds. */
const START_MS = 10_000;

interface PoolTrouble {
  /** It had members of its own. */
  wasOpen: boolean;
  /** Undefined: nothing is wrong. */
  trouble: IncidentKind | undefined;
  primary: MemberName | undefined;
}

export class TroubleWatch {
  readonly #isExclusive: (pool: PoolName) => boolean | undefined;
  readonly #pools = new Map<PoolName, PoolTrouble>();
  /** Probes without an answer in a row. */
  readonly #silence = new Map<MemberName, number>();
  #areSilent = false;
  #evictions: Instant[] = [];
  #late: { readonly at: Instant; readonly count: number }[] = [];
  #missedSince: Instant | undefined;

  /** `isExclusive`: undefined for a pool that does not exist. */
  constructor(isExclusive: (pool: PoolName) => boolean | undefined) {
    this.#isExclusive = isExclusive;
  }

  /** The trouble that begins with this event. */
  take(event: ReportedEvent, at: Instant): readonly IncidentKind[] {
    if (event.kind === 'route_changed') return this.#takeRoute(event.pool, event.to, at);
    if (event.kind === 'probe_finished') return this.#takeProbe(event.member, event.outcome);
    if (event.kind === 'session_closed') return this.#takeClosed(event.reason, at);
    if (event.kind === 'reads_late') return this.#takeLate(event, at);
    if (event.kind === 'members_changed') for (const member of event.removed) this.#silence.delete(member);
    if (event.kind === 'config_reloaded') this.#forgetPools();
    return [];
  }

  /** Trouble that begins because time passes: no primary since the start. */
  tick(now: Instant): readonly IncidentKind[] {
    if (this.#missedSince === undefined || now < this.#missedSince + START_MS) return [];
    this.#missedSince = undefined;
    return ['no_primary_usable'];
  }

  /** When tick() has something to say. */
  dueAt(): Instant {
    return this.#missedSince === undefined ? Infinity : this.#missedSince + START_MS;
  }

  isGoingOn(): boolean {
    return this.#areSilent || [...this.#pools.values()].some(({ trouble }) => trouble !== undefined);
  }

  #forgetPools(): void {
    for (const pool of this.#pools.keys()) if (this.#isExclusive(pool) === undefined) this.#pools.delete(pool);
  }

  #takeRoute(pool: PoolName, to: Route, at: Instant): readonly IncidentKind[] {
    const state = this.#pools.get(pool) ?? { wasOpen: false, trouble: undefined, primary: undefined };
    this.#pools.set(pool, state);
    return this.#isExclusive(pool) === true ? this.#takePrimary(state, to, at) : takeShared(state, to);
  }

  #takePrimary(state: PoolTrouble, to: Route, at: Instant): readonly IncidentKind[] {
    const { trouble: before, primary } = state;
    if (to.kind === 'open') {
      const { member } = to.targets[0];
      Object.assign(state, { wasOpen: true, trouble: undefined, primary: member });
      this.#missedSince = undefined;
      return primary === undefined || primary === member ? [] : ['primary_changed'];
    }
    if (to.kind === 'hold' && to.cause === 'starting') return [];
    if (to.kind === 'hold' && to.cause === 'two_primaries') {
      state.trouble = 'two_primaries';
      return before === 'two_primaries' ? [] : ['two_primaries'];
    }
    state.trouble = 'primary_lost';
    if (!state.wasOpen && before === undefined) this.#missedSince = at;
    return before === undefined && state.wasOpen ? ['primary_lost'] : [];
  }

  #takeProbe(member: MemberName, outcome: string): readonly IncidentKind[] {
    if (outcome === 'local') return [];
    const isAnswer = outcome === 'yes' || outcome === 'no';
    this.#silence.set(member, isAnswer ? 0 : (this.#silence.get(member) ?? 0) + 1);
    if (isAnswer) {
      this.#areSilent = false;
      return [];
    }
    if (this.#areSilent || [...this.#silence.values()].some((probes) => probes < SILENT_PROBES)) return [];
    this.#areSilent = true;
    return ['all_members_silent'];
  }

  #takeClosed(reason: CloseReason, at: Instant): readonly IncidentKind[] {
    if (CLOSE_REASONS[reason].counts !== 'eviction') return [];
    this.#evictions = [...this.#evictions.filter((one) => one > at - EVICTIONS_MS), at];
    if (this.#evictions.length < MANY_EVICTIONS) return [];
    this.#evictions = [];
    return ['sessions_evicted'];
  }

  /** A session that moves takes its read along, and its client notices nothing. */
  #takeLate({ result, count }: EventOf<'reads_late'>, at: Instant): readonly IncidentKind[] {
    if (result === 'moved') return [];
    this.#late = [...this.#late.filter((one) => one.at > at - EVICTIONS_MS), { at, count }];
    if (sumOf(this.#late, (one) => one.count) < MANY_LATE) return [];
    this.#late = [];
    return ['reads_late'];
  }
}

/** Members of another pool help out: the pool itself is empty. */
function takeShared(state: PoolTrouble, to: Route): readonly IncidentKind[] {
  const { wasOpen, trouble } = state;
  const hasOwn = to.kind === 'open' && to.fallback === undefined;
  if (hasOwn) state.wasOpen = true;
  state.trouble = hasOwn || !wasOpen ? undefined : 'read_pool_empty';
  return state.trouble === undefined || trouble !== undefined ? [] : [state.trouble];
}
