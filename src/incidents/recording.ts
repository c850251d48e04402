// The events of an incident, or of the time before one: bounded, with equal events in one entry. Pure: the time of an
// event comes with it. Nothing is made into text here, because most entries are never shown.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import type { Instant } from '../model/instant.ts';
import { isKeptInIncidents } from '../reports/event-parts.ts';
import { EVENT_CLASSES, handle, type EventHandlers, type EventOf, type ReportedEvent } from '../reports/events.ts';
import { Waits } from './waits.ts';

export interface RecordingEntry {
  readonly number: number;
  readonly at: Instant;
  readonly event: ReportedEvent;
  /** All of them, the first one included. */
  readonly count: number;
  readonly last: { readonly number: number; readonly at: Instant; readonly event: ReportedEvent };
  /** The waits of holds that ended. */
  readonly waits: Waits | undefined;
}

type Open = { -readonly [Key in keyof RecordingEntry]: RecordingEntry[Key] };

const GROUPS = ['decisions', 'probes', 'sessions', 'traffic'] as const;
type Group = (typeof GROUPS)[number];

export type RecordingLimits = Readonly<Record<Group, number>> & {
  /** The number of sessions that have an entry of their own when they are cut. */
  readonly singleSessions: number;
  /** At the limit the first half stays, and entries go from the middle. False: the oldest go. */
  readonly keepsFirst: boolean;
};

/** Equal events further apart than this are two entries. Milliseconds. */
const BURST_MS = 10_000;

/** An event's place: events of one slot and one value share an entry. */
interface RecordingPlace {
  readonly group: Group;
  readonly slot?: string;
  readonly value?: string;
  readonly gapMs?: number;
}

export class Recording {
  readonly #limits: RecordingLimits;
  readonly #kept: Record<Group, Open[]> = { decisions: [], probes: [], sessions: [], traffic: [] };
  readonly #slots = new Map<string, { readonly value: string | undefined; readonly entry: Open }>();
  readonly #periods = new Map<string, Period>();
  #dropped = 0;

  constructor(limits: RecordingLimits) {
    this.#limits = limits;
  }

  /** False: the event is of no interest. */
  take(event: ReportedEvent, number: number, at: Instant): boolean {
    if (event.kind === 'route_changed') this.#begin(event.pool, event.to.kind === 'open', at);
    const place = placeOf(event, (pool) => this.#periodOf(pool, at), this.#slots);
    if (place === undefined) return false;
    const { group, slot, value, gapMs = Infinity } = place;
    const known = slot === undefined ? undefined : this.#slots.get(slot);
    const isFull = group !== 'sessions' || this.#kept.sessions.length >= this.#limits.singleSessions;
    if (known !== undefined && known.value === value && at - known.entry.last.at <= gapMs && isFull) {
      addTo(known.entry, event, number, at);
      return true;
    }
    const entry: Open = {
      number,
      at,
      event,
      count: countOf(event),
      last: { number, at, event },
      waits: waitsOf(event),
    };
    if (slot !== undefined) this.#slots.set(slot, { value, entry });
    this.#keep(group, entry);
    return true;
  }

  /** In the order of their times. */
  entries(): readonly RecordingEntry[] {
    return GROUPS.flatMap((group) => this.#kept[group]).toSorted((a, b) => a.at - b.at || a.number - b.number);
  }

  /** Events that were recorded and are no longer kept. */
  dropped(): number {
    return this.#dropped;
  }

  /** Takes over what another one has since `since`; of each check the newest answers, however old. */
  adopt(other: Recording, since: Instant): void {
    for (const [pool, period] of other.#periods) this.#periods.set(pool, period);
    for (const group of GROUPS) {
      this.#kept[group] = other.#kept[group].filter((entry) => entry.last.at >= since).map((entry) => ({ ...entry }));
    }
    const copies = new Map(GROUPS.flatMap((group) => this.#kept[group]).map((entry) => [entry.number, entry]));
    for (const [slot, { value, entry }] of other.#slots) {
      const copy = copies.get(entry.number);
      if (copy !== undefined) this.#slots.set(slot, { value, entry: copy });
    }
  }

  #keep(group: Group, entry: Open): void {
    const kept = this.#kept[group];
    kept.push(entry);
    if (kept.length <= this.#limits[group]) return;
    const [gone] = kept.splice(this.#limits.keepsFirst ? Math.floor(this.#limits[group] / 2) : 0, 1);
    if (gone === undefined) return;
    this.#dropped += gone.count;
    for (const [slot, { entry }] of this.#slots) if (entry === gone) this.#slots.delete(slot);
  }

  /** A pool's route opens or is lost: what its clients meet from now on is another story. */
  #begin(pool: string, isOpen: boolean, at: Instant): void {
    const now = this.#periods.get(pool) ?? FIRST;
    if (now.isOpen === isOpen) return;
    this.#periods.set(pool, { number: now.number + 1, isOpen, since: at });
  }

  /** Events of workers come late: they may belong to the period before. */
  #periodOf(pool: string, at: Instant): number {
    const { number, since } = this.#periods.get(pool) ?? FIRST;
    return at < since ? number - 1 : number;
  }
}

interface Period {
  readonly number: number;
  readonly isOpen: boolean | undefined;
  readonly since: Instant;
}

const FIRST: Period = { number: 1, isOpen: undefined, since: -Infinity };

function addTo(entry: Open, event: ReportedEvent, number: number, at: Instant): void {
  entry.count += countOf(event);
  if (at < entry.at) entry.at = at;
  if (at >= entry.last.at) entry.last = { number, at, event };
  if (event.kind === 'hold_ended') entry.waits?.add(event.waitedMs);
}

/** An event of late reads stands for many. */
function countOf(event: ReportedEvent): number {
  return event.kind === 'reads_late' ? event.count : 1;
}

function waitsOf(event: ReportedEvent): Waits | undefined {
  return event.kind === 'hold_ended' ? new Waits([event.waitedMs]) : undefined;
}

/** The places of the kinds whose events share entries. */
const PLACES: EventHandlers<
  [period: (pool: string) => number, slots: ReadonlyMap<string, unknown>],
  RecordingPlace | undefined
> = {
  probe_finished: ({ member, check, outcome }) => ({
    group: 'probes',
    slot: `probe ${member} ${check}`,
    value: outcome,
  }),
  discovery_finished: ({ detail }, _, slots) => {
    const slot = 'discovery';
    if (detail === undefined && !slots.has(slot)) return undefined;
    return { group: 'probes', slot, value: detail === undefined ? 'yes' : 'no' };
  },
  hold_started: ({ pool, cause }, period) => ({ group: 'traffic', slot: `held ${pool} ${period(pool)} ${cause}` }),
  hold_ended: ({ pool, outcome }) => ({ group: 'traffic', slot: `hold ${pool} ${outcome}`, gapMs: BURST_MS }),
  session_opened: ({ pool }, period) => ({ group: 'traffic', slot: `opened ${pool} ${period(pool)}` }),
  session_closed: placeOfClosed,
  login_refused: ({ pool, member, sqlState }) => ({
    group: 'traffic',
    slot: `login ${pool} ${member} ${sqlState}`,
    gapMs: BURST_MS,
  }),
  reads_late: ({ pool, member, result }) => ({
    group: 'traffic',
    slot: `late ${pool} ${member} ${result}`,
    gapMs: BURST_MS,
  }),
  member_tls_failed: ({ member, reason }) => ({ group: 'traffic', slot: `tls ${member} ${reason}`, gapMs: BURST_MS }),
  dial_finished: ({ pool, member, outcome }) =>
    outcome === 'connected' || outcome === 'outraced'
      ? undefined
      : { group: 'traffic', slot: `dial ${pool} ${member} ${outcome}`, gapMs: BURST_MS },
  refresh_requested: () => ({ group: 'decisions', slot: 'refresh', gapMs: BURST_MS }),
};

function placeOf(
  event: ReportedEvent,
  period: (pool: string) => number,
  slots: ReadonlyMap<string, unknown>,
): RecordingPlace | undefined {
  // Branches are no part of the cluster, so an incident has none of their sessions.
  if (!isKeptInIncidents(EVENT_CLASSES[event.kind]) || 'branch' in event) return undefined;
  return event.kind in PLACES ? handle(PLACES, event, period, slots) : { group: 'decisions' };
}

function placeOfClosed(event: EventOf<'session_closed'>): RecordingPlace | undefined {
  const { pool, member, reason, user, database, application, waitedMs } = event;
  if (reason === 'backend_refused') {
    return { group: 'traffic', slot: `refused ${pool} ${member} ${waitedMs === undefined}`, gapMs: BURST_MS };
  }
  const { side, counts } = CLOSE_REASONS[reason];
  if (counts === 'ordinary') return undefined;
  if (member !== undefined) {
    const slot = `cut ${pool} ${member} ${reason} ${user} ${database} ${application}`;
    return { group: 'sessions', slot, gapMs: BURST_MS };
  }
  return side === 'pointsman' ? { group: 'traffic', slot: `refused ${pool} ${reason}`, gapMs: BURST_MS } : undefined;
}
