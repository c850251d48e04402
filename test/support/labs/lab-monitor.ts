// A monitor over members that a test scripts: a function gives the answers of each API, time is a ManualClock's, and
// every report of the monitor is kept.
import type { Action } from '../../../src/core/actions.ts';
import type { MonitorEvent } from '../../../src/reports/monitor-events.ts';
import type { Member, MemberName, MemberRefusal } from '../../../src/model/member.ts';
import type { ListFailure, MemberList, ProbeOutcome } from '../../../src/model/observation.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import type { ReadHistory } from '../../../src/monitor/timeline-history.ts';
import { Monitor } from '../../../src/monitor/monitor.ts';
import { aMember, aPolicy } from '../values/builders.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

export interface Scripted {
  role: 'primary' | 'replica' | 'silent' | 'vanished' | 'dead' | 'promoting';
  timeline: number;
  state?: 'restarting' | 'starting' | 'stopping' | 'running';
}

export class LabMonitor {
  readonly clock = new ManualClock();
  readonly members = new Map<MemberName, Scripted>();
  readonly actions: Action[] = [];
  readonly events: MonitorEvent[] = [];
  /** Instants of the probes, per member; and the most that were open at once for one member. */
  readonly asked = new Map<MemberName, number[]>();
  /** The member that /cluster names as the running leader; undefined: none. */
  leader: MemberName | undefined = 'pg-1';
  origin: Member['origin'] = 'configured';
  /** Members that no list names although they answer. */
  readonly forgotten = new Set<MemberName>();
  /** Awaited in each discovery. */
  beforeDiscovery: () => Promise<void> = () => Promise.resolve();
  discoveries: { readonly at: number; readonly not: MemberName | undefined }[] = [];
  scheduledSwitchoverAt: number | undefined;
  refused: readonly MemberRefusal[] = [];
  /** The history of timelines by the member that is asked; primaries then report a WAL position, too. */
  history: ReadHistory | undefined;
  readonly monitor: Monitor;
  /** Called with each decision, and with each event. */
  onTable: () => void = () => {};
  onEvent: (event: MonitorEvent, at?: number) => void = () => {};
  readonly #held = new Map<MemberName, PromiseWithResolvers<void>>();

  constructor(policy: RoutingPolicy = aPolicy()) {
    this.members.set('pg-1', { role: 'primary', timeline: 1 });
    this.members.set('pg-2', { role: 'replica', timeline: 1 });
    this.monitor = new Monitor({
      policy,
      scope: 'lab',
      probe: async (member, check) => {
        const outcome = this.#answer(member.name, check.path);
        await this.#held.get(member.name)?.promise;
        return outcome;
      },
      discover: async ({ not }) => {
        const found = this.#discover(not);
        await this.beforeDiscovery();
        return found;
      },
      readHistory: () => this.history,
      clock: this.clock,
      wallClock: () => this.clock.now(),
      random: () => 0.5,
      onTable: (actions) => {
        this.actions.push(...actions);
        this.onTable();
      },
      onEvent: (event, at) => {
        this.events.push(event);
        this.onEvent(event, at);
      },
    });
  }

  async started(): Promise<this> {
    this.monitor.start();
    await this.clock.advance(10);
    this.actions.length = 0;
    return this;
  }

  set(name: MemberName, change: Partial<Scripted>): void {
    const current = this.members.get(name) ?? { role: 'replica', timeline: 1 };
    this.members.set(name, { ...current, ...change });
  }

  /** Its answers do not arrive until letGo(). */
  hold(name: MemberName): void {
    this.#held.set(name, Promise.withResolvers());
  }

  letGo(name: MemberName): void {
    this.#held.get(name)?.resolve();
    this.#held.delete(name);
  }

  writeRoute(): string {
    const route = this.monitor.table().pools.get('write')?.route;
    return route?.kind === 'open' ? route.targets.map((target) => target.member).join() : (route?.kind ?? 'none');
  }

  evictions(pool: string): string[] {
    return this.actions
      .filter((action) => action.pool === pool)
      .map((action) => `${action.member} ${action.cause} ${action.mode}`);
  }

  askedSince(name: MemberName, at: number): number {
    return (this.asked.get(name) ?? []).filter((instant) => instant > at).length;
  }

  #answer(name: MemberName, path: string): ProbeOutcome {
    this.asked.set(name, [...(this.asked.get(name) ?? []), this.clock.now()]);
    const { role, timeline, state = 'running' } = this.members.get(name) ?? { role: 'dead', timeline: 1 };
    if (role === 'dead') return { kind: 'refused', postgres: 'refused' };
    if (role === 'vanished') return { kind: 'failed', cause: 'timeout', detail: 'no answer', postgres: 'silent' };
    if (role === 'silent') return { kind: 'failed', cause: 'timeout', detail: 'no answer', postgres: 'accepts' };
    const isPrimary = role === 'primary';
    const body: MemberStatus = {
      scope: 'lab',
      state,
      role: isPrimary ? 'primary' : 'replica',
      timeline,
      ...this.#walOf(isPrimary),
    };
    const isYes = path === '/primary' ? role !== 'replica' : !isPrimary;
    return { kind: 'answered', status: isYes ? 200 : 503, body };
  }

  #walOf(isPrimary: boolean): Partial<MemberStatus> {
    return isPrimary && this.history !== undefined ? { location: 500, startedAt: 'monday' } : {};
  }

  #discover(not: MemberName | undefined): MemberList | ListFailure {
    const startedAt = this.clock.now();
    this.discoveries.push({ at: startedAt, not });
    return {
      kind: 'found',
      members: [...this.members.keys()]
        .filter((name) => !this.forgotten.has(name))
        .map((name) => aMember(name, { origin: this.origin })),
      scope: 'lab',
      leader: this.leader === undefined ? undefined : { name: this.leader, state: 'running' },
      by: 'pg-2',
      scheduledSwitchoverAt: this.scheduledSwitchoverAt,
      refused: this.refused,
      startedAt,
    };
  }
}
