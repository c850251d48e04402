// When to read the /cluster document: on a slow beat, when a route changed, when asked, and to vouch for a silent
// primary. Never at probe rate and never for liveness: each read costs a member a live read of its store.
import type { MonitorEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { Member, MemberName, MemberRefusal } from '../model/member.ts';
import type { Observation } from '../model/observation.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { OVERDUE_MS } from '../core/operator-override.ts';
import type { MemberRecord, NewList } from '../core/snapshot.ts';
import type { ScheduledSwitchover } from '../model/observation.ts';
import { NewLists } from './new-lists.ts';

export type Discovered =
  | {
      readonly kind: 'found';
      readonly members: readonly Member[];
      readonly scope?: string | undefined;
      readonly leader?: { readonly name: MemberName; readonly state: string | undefined } | undefined;
      /** Who answered: a member's name, or its URL while no name is known. */
      readonly by: string;
      /** Epoch milliseconds. */
      readonly scheduledSwitchoverAt?: number | undefined;
      readonly refused: readonly MemberRefusal[];
      readonly startedAt: Instant;
    }
  | {
      readonly kind: 'failed';
      readonly why: string;
      /** The list as it was: configured members are known without any document. */
      readonly members: readonly Member[];
      readonly refused: readonly MemberRefusal[];
      readonly startedAt: Instant;
    };

type Found = Extract<Discovered, { kind: 'found' }>;

function runningLeader({ leader }: Found): MemberName | undefined {
  return leader?.state === 'running' ? leader.name : undefined;
}

/** Reads /cluster from some member, not from `not`. Settles within its own deadline, never rejects. */
export type Discover = (options: { readonly not?: MemberName }) => Promise<Discovered>;

export interface DiscoveryLoopOptions {
  readonly probe: () => ProbePolicy;
  /** How long before a scheduled switchover clients begin to wait. */
  readonly beforeSwitchoverMs: () => number;
  readonly discover: Discover;
  readonly clock: Clock;
  readonly wallClock: () => number;
  readonly random: () => number;
  readonly onObservation: (observation: Observation) => void;
  /** A list since `startAnew`, until it is clear which members are gone. Told before the list itself. */
  readonly onNewList: (list: NewList) => void;
  readonly onTrigger: (name: string) => void;
  readonly onEvent: (event: MonitorEvent) => void;
}

/** The ordinary beat, and the least time between two reads for whatever reason. Milliseconds. */
const INTERVAL_MS = 10_000;
const LEAST_INTERVAL_MS = 1000;
/** A scheduled switchover is watched from this long before anything follows from it until it is overdue. Milliseconds. */
const SCHEDULED_EARLY_MS = 1000;

export class DiscoveryLoop {
  readonly #options: DiscoveryLoopOptions;
  #cancelTimer: () => void = () => {};
  #cancelScheduled: () => void = () => {};
  #startedAt: Instant = -Infinity;
  #vouchSoughtAt: Instant = -Infinity;
  /** The time of the switchover for which was read once more. */
  #confirmedAt: Instant = -Infinity;
  /** As last told; the same list until its content changes. */
  #refused: readonly MemberRefusal[] = [];
  #isReading = false;
  /** How often there was news while it was read. */
  #news = 0;
  #isVouching = false;
  #hasFound = false;
  /** Present since it began anew, until it is clear which members are gone. */
  #newLists: NewLists | undefined;
  /** How often it began anew: an answer to an older question is not listened to. */
  #era = 0;
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

  /** `discover` asks others from now on, or by other rules: reads at once, and what was asked before is no longer of interest. */
  startAnew(): void {
    this.#era += 1;
    this.#isReading = false;
    this.#isVouching = false;
    this.#hasFound = false;
    this.#newLists = new NewLists(this.#options.probe().silenceGraceMs);
    this.#schedule(0);
  }

  /** Reads again as soon as the least interval allows; what is being read may be older than the news. */
  refresh(): void {
    if (this.#isReading) this.#news += 1;
    else this.#schedule(this.#soonestMs());
  }

  /**
   * A frozen API must not become a write outage (guarantees.md: vouching): while the member's PostgreSQL accepts, another member's
   * fresh document that names it leader and running counts as its own answer.
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

  /** Has somebody other than the member say who the leader is: that is a witness for a primary that is refused. */
  seekLeader(not: MemberName): void {
    if (!this.#isVouching && !this.#isStopped) void this.#ask(not);
  }

  async #vouch(member: MemberName): Promise<void> {
    const found = await this.#ask(member);
    if (found === undefined || runningLeader(found) !== member) return;
    this.#options.onObservation({ kind: 'vouch', member, by: found.by, startedAt: found.startedAt });
  }

  /** One such question at a time. Undefined: no answer, or one that is no longer of interest. */
  async #ask(not: MemberName): Promise<Found | undefined> {
    const era = this.#era;
    this.#isVouching = true;
    const found = await this.#options.discover({ not });
    if (era !== this.#era) return undefined;
    this.#isVouching = false;
    if (found.kind === 'failed') return undefined;
    this.#tellLeader(found);
    return found;
  }

  #tellLeader(found: Found): void {
    const { by, startedAt } = found;
    this.#options.onObservation({ kind: 'leader', leader: runningLeader(found), by, startedAt });
  }

  #soonestMs(): number {
    return Math.max(0, this.#startedAt + LEAST_INTERVAL_MS - this.#options.clock.now());
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    this.#cancelTimer = this.#options.clock.schedule(delayMs, () => void this.#read());
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#isStopped) return;
    const { discover, clock, onObservation, onEvent, random } = this.#options;
    const era = this.#era;
    this.#isReading = true;
    const news = this.#news;
    this.#startedAt = clock.now();
    const found = await discover({});
    if (era !== this.#era) return;
    this.#isReading = false;
    onEvent({
      kind: 'discovery_finished',
      source: found.kind === 'found' ? found.by : undefined,
      detail: found.kind === 'failed' ? found.why : undefined,
      members: found.kind === 'found' ? found.members.length : 0,
      durationMs: clock.now() - this.#startedAt,
    });
    this.#takeRefused(found);
    const usualMs = this.#hasFound || found.kind === 'found' ? INTERVAL_MS * (0.9 + 0.2 * random()) : LEAST_INTERVAL_MS;
    const { members, startedAt } = found;
    if (found.kind === 'found') this.#takeNewList(members, startedAt);
    this.#schedule(this.#news > news ? this.#soonestMs() : Math.min(usualMs, this.#untilLastWordMs()));
    const scope = found.kind === 'found' ? found.scope : undefined;
    const scheduled = found.kind === 'found' ? this.#scheduled(found) : undefined;
    if (found.kind === 'found') {
      this.#hasFound = true;
      this.#watchScheduled(scheduled);
    }
    const switchover = found.kind === 'found' ? { switchover: scheduled ?? ('none' as const) } : {};
    const named = scope === undefined ? {} : { scope };
    onObservation({ kind: 'members', startedAt, members, ...named, ...switchover, refused: this.#refused });
    if (found.kind === 'found') this.#tellLeader(found);
  }

  #takeNewList(members: readonly Member[], startedAt: Instant): void {
    const list = this.#newLists?.read(members, startedAt);
    if (list === undefined) return;
    if (list.isGraceOver) this.#newLists = undefined;
    this.#options.onNewList(list);
  }

  #untilLastWordMs(): number {
    const endsAt = this.#newLists?.endsAt() ?? Infinity;
    return Math.max(LEAST_INTERVAL_MS, endsAt - this.#options.clock.now());
  }

  /** The wall clock is asked for this alone: to place its time on ours. */
  #scheduled({ leader, scheduledSwitchoverAt }: Found): ScheduledSwitchover | undefined {
    const { clock, wallClock } = this.#options;
    if (leader === undefined || scheduledSwitchoverAt === undefined) return undefined;
    return { at: clock.now() + (scheduledSwitchoverAt - wallClock()), leader: leader.name };
  }

  /** Where no document was read, what the last one listed stays refused. */
  #takeRefused({ kind, refused: said }: Discovered): void {
    const isAnew = (one: MemberRefusal): boolean => said.some(({ name }) => name === one.name);
    const kept = this.#refused.filter((one) => one.reason !== 'contact_point' && !isAnew(one));
    const refused = kind === 'found' ? said : [...said, ...kept];
    if (JSON.stringify(refused) === JSON.stringify(this.#refused)) return;
    this.#refused = refused;
    this.#options.onEvent({ kind: 'members_refused', refused });
  }

  /** Reads once more before anything follows from it: it may have been taken back. */
  #watchScheduled(scheduled: ScheduledSwitchover | undefined): void {
    this.#cancelScheduled();
    if (scheduled === undefined) return;
    const { clock, beforeSwitchoverMs, onTrigger } = this.#options;
    const { at } = scheduled;
    const watch = (): void => {
      if (clock.now() > at + OVERDUE_MS) return;
      onTrigger('scheduled_switchover');
      if (Math.abs(at - this.#confirmedAt) > LEAST_INTERVAL_MS) this.refresh();
      this.#confirmedAt = at;
      this.#cancelScheduled = clock.schedule(LEAST_INTERVAL_MS, watch);
    };
    const beginsAt = at - beforeSwitchoverMs() - SCHEDULED_EARLY_MS;
    this.#cancelScheduled = clock.schedule(Math.max(0, beginsAt - clock.now()), watch);
  }
}
