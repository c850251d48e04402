// When to read the /cluster document: every 10 s, each second while a scheduled switchover is due, after a change of a
// route, on request, and to vouch for a silent primary. Never at the probe rate and never for liveness: each read costs
// the member a read of its configuration store.
import type { MonitorEvent } from '../reports/monitor-events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName, MemberRefusal } from '../model/member.ts';
import type { ListFailure, MemberList, Observation, ScheduledSwitchover } from '../model/observation.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { LIST_INTERVAL_MS, OVERDUE_MS } from '../core/operator-override.ts';
import type { MemberRecord, NewList } from '../core/snapshot.ts';
import { NewLists } from './new-lists.ts';
import { scheduledTime } from './scheduled-time.ts';

function runningLeader({ leader }: MemberList): MemberName | undefined {
  return leader?.state === 'running' ? leader.name : undefined;
}

/** Reads /cluster from some member, not from `not`. Settles within its own deadline, never rejects. */
export type Discover = (options: { readonly not?: MemberName }) => Promise<MemberList | ListFailure>;

export interface DiscoveryLoopOptions {
  readonly probe: () => ProbePolicy;
  /** How long before a scheduled switchover clients begin to wait. */
  readonly beforeSwitchoverMs: () => number;
  readonly discover: Discover;
  readonly clock: Clock;
  readonly wallClock: () => number;
  readonly random: () => number;
  readonly onObservation: (observation: Observation) => void;
  /** Called before the list itself, after `startAnew`, until it is clear which members are gone. */
  readonly onNewList: (list: NewList) => void;
  readonly onTrigger: (name: string) => void;
  readonly onEvent: (event: MonitorEvent) => void;
}

/** The shortest time between two reads for any reason. Milliseconds. */
const MIN_INTERVAL_MS = 1000;
/** A scheduled switchover is watched from this long before its first effect until it is overdue. Milliseconds. */
const SCHEDULED_EARLY_MS = 1000;

export class DiscoveryLoop {
  readonly #options: DiscoveryLoopOptions;
  #cancelTimer: () => void = () => {};
  #cancelScheduled: () => void = () => {};
  #startedAt: Instant = -Infinity;
  #vouchSoughtAt: Instant = -Infinity;
  /** As last reported; the same object until its content changes. */
  #refused: readonly MemberRefusal[] = [];
  #isReading = false;
  /** Counts requests for a read that came while a read was under way. */
  #requests = 0;
  #isVouching = false;
  #hasFound = false;
  /** Set after `startAnew`, until it is clear which members are gone. */
  #newLists: NewLists | undefined;
  /** Counts calls of `startAnew`: answers to older requests are ignored. */
  #generation = 0;
  #isStopped = false;

  constructor(options: DiscoveryLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#cancelScheduled();
  }

  /** `discover` has new contact points or rules: reads at once and ignores the answers to earlier requests. */
  startAnew(): void {
    this.#generation += 1;
    this.#isReading = false;
    this.#isVouching = false;
    this.#hasFound = false;
    this.#newLists = new NewLists(this.#options.probe().silenceGraceMs);
    this.#schedule(0);
  }

  /** Reads again as soon as the shortest interval allows: a read under way may be older than the change. */
  refresh(): void {
    if (this.#isReading) this.#requests += 1;
    else this.#schedule(this.#soonestMs());
  }

  /**
   * A frozen API must not become a write outage (guarantees.md: vouching): while the member's PostgreSQL accepts,
   * another member's fresh document that names it leader and running counts as its own answer.
   */
  seekVouch(record: MemberRecord): void {
    const { clock } = this.#options;
    const probe = this.#options.probe();
    const outcome = record.failure?.outcome;
    const accepts = outcome?.kind === 'failed' && outcome.postgres === 'accepts';
    const isDue = clock.now() - this.#vouchSoughtAt >= probe.writeMaxAgeMs / 2;
    if (!probe.vouching || !accepts || this.#isVouching || !isDue) return;
    this.#vouchSoughtAt = clock.now();
    void this.#vouch(record.member.name);
  }

  /** Requests another member's document: its leader is a witness for a refused primary. */
  seekLeader(not: MemberName): void {
    if (this.#isVouching || this.#isStopped) return;
    void this.#discoverFrom(not).then((found) => found && this.#reportLeader(found));
  }

  async #vouch(member: MemberName): Promise<void> {
    const found = await this.#discoverFrom(member);
    if (found === undefined) return;
    const { by, startedAt } = found;
    // First: a decision about the leader alone could end sessions by the clock, which this vouch keeps.
    if (runningLeader(found) === member) this.#options.onObservation({ kind: 'vouch', member, by, startedAt });
    this.#reportLeader(found);
  }

  /** One request at a time. Undefined: no answer, or an answer from before `startAnew`. */
  async #discoverFrom(not: MemberName): Promise<MemberList | undefined> {
    const generation = this.#generation;
    this.#isVouching = true;
    const found = await this.#options.discover({ not });
    if (generation !== this.#generation) return undefined;
    this.#isVouching = false;
    return found.kind === 'failed' ? undefined : found;
  }

  #reportLeader(found: MemberList): void {
    const { by, startedAt } = found;
    this.#options.onObservation({ kind: 'leader', leader: runningLeader(found), by, startedAt });
  }

  #soonestMs(): number {
    return Math.max(0, this.#startedAt + MIN_INTERVAL_MS - this.#options.clock.now());
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#options.clock.schedule(delayMs, () => void this.#read());
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#isStopped) return;
    const { discover, clock, onObservation, onEvent, random } = this.#options;
    const generation = this.#generation;
    this.#isReading = true;
    const requests = this.#requests;
    this.#startedAt = clock.now();
    const found = await discover({});
    if (generation !== this.#generation) return;
    this.#isReading = false;
    const list = found.kind === 'found' ? found : undefined;
    onEvent({
      kind: 'discovery_finished',
      source: list?.by,
      detail: found.kind === 'failed' ? found.why : undefined,
      members: list?.members.length ?? 0,
      durationMs: clock.now() - this.#startedAt,
    });
    this.#takeRefused(found);
    if (list !== undefined) {
      // A cluster that begins has a document before it has members.
      if (list.members.length > 0) this.#hasFound = true;
      this.#takeNewList(list);
    }
    const usualMs = this.#hasFound ? LIST_INTERVAL_MS.usual * (0.9 + 0.2 * random()) : MIN_INTERVAL_MS;
    this.#schedule(this.#requests > requests ? this.#soonestMs() : Math.min(usualMs, this.#untilFinalListMs()));
    const { members, startedAt } = found;
    const observation = { kind: 'members', startedAt, members, refused: this.#refused } as const;
    if (list === undefined) return onObservation(observation);
    const scheduled = scheduledTime(list, { now: clock.now(), wallClock: this.#options.wallClock() });
    this.#watchScheduled(scheduled);
    const named = list.scope === undefined ? {} : { scope: list.scope };
    onObservation({ ...observation, ...named, switchover: scheduled ?? 'none' });
    this.#reportLeader(list);
  }

  #takeNewList({ members, startedAt }: MemberList): void {
    const list = this.#newLists?.read(members, startedAt);
    if (list === undefined) return;
    if (list.isGraceOver) this.#newLists = undefined;
    this.#options.onNewList(list);
  }

  #untilFinalListMs(): number {
    const endsAt = this.#newLists?.endsAt() ?? Infinity;
    return Math.max(MIN_INTERVAL_MS, endsAt - this.#options.clock.now());
  }

  /** While no document can be read, the members that the last one refused stay refused. */
  #takeRefused({ kind, refused: listed }: MemberList | ListFailure): void {
    const isAnew = (one: MemberRefusal): boolean => listed.some(({ name }) => name === one.name);
    const kept = this.#refused.filter((one) => one.reason !== 'contact_point' && !isAnew(one));
    const refused = kind === 'found' ? listed : [...listed, ...kept];
    if (JSON.stringify(refused) === JSON.stringify(this.#refused)) return;
    this.#refused = refused;
    this.#options.onEvent({ kind: 'members_refused', refused });
  }

  /** Reads again before the switchover has any effect, and each second while it has one: it may have been cancelled. */
  #watchScheduled(scheduled: ScheduledSwitchover | undefined): void {
    this.#cancelScheduled();
    if (scheduled === undefined) return;
    const { clock, beforeSwitchoverMs, onTrigger } = this.#options;
    const { at } = scheduled;
    const watch = (): void => {
      if (clock.now() > at + OVERDUE_MS) return;
      onTrigger('scheduled_switchover');
      this.refresh();
      this.#cancelScheduled = clock.schedule(MIN_INTERVAL_MS, watch);
    };
    const beginsAt = at - beforeSwitchoverMs() - SCHEDULED_EARLY_MS;
    this.#cancelScheduled = clock.schedule(Math.max(0, beginsAt - clock.now()), watch);
  }
}
