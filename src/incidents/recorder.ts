// Takes every event with its number and keeps the incidents. Owns their state and one timer while an incident may
// change; what it needs of the rest of the program comes in as functions. Never throws into its caller.
import { isPlanned } from '../core/routing-table.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import type { PoolCounts } from '../reports/counts.ts';
import type { ReportedEvent } from '../reports/events.ts';
import { Publisher, type IncidentChange, type PublisherOptions } from './publisher.ts';
import { IncidentLifecycle, type Step, type TroubleKind } from './incident-lifecycle.ts';
import { OpenIncident } from './open-incident.ts';
import type { ClusterState } from './cluster-state.ts';
import { Recording, type RecordingEntry, type RecordingLimits } from './recording.ts';
import type { IncidentDocument, IncidentEntry, IncidentKind } from './schema.ts';
import { TroubleWatch } from './trouble.ts';

export interface FlightRecorderOptions extends PublisherOptions {
  readonly version: string;
  readonly workers: number;
  /** The cluster as it is known now. */
  readonly known: () => Omit<ClusterState, 'at' | 'counts'>;
  readonly counts: () => ReadonlyMap<PoolName, PoolCounts>;
}

export interface ShowOptions {
  /** Shows client addresses, users and databases. Default: names such as `client-1` stand for them. */
  readonly isUnredacted?: boolean;
}

/** Before an incident: little memory. */
const IDLE_LIMITS: RecordingLimits = {
  decisions: 40,
  probes: 60,
  sessions: 40,
  traffic: 30,
  singleSessions: 20,
  keepsFirst: false,
};

/** An open incident is written again at most so often. Milliseconds. */
const SAVE_MS = 5_000;
/** After a change of a route sooner, because lists show the time without one. Milliseconds. */
const SOON_MS = 200;
/** Sessions are counted for the state before an incident at most so often. Milliseconds. */
const COUNT_MS = 1_000;

export class FlightRecorder {
  readonly #options: FlightRecorderOptions;
  readonly #publisher: Publisher;
  readonly #trouble: TroubleWatch;
  readonly #startedAt: Instant;
  readonly #lifecycle = new IncidentLifecycle();
  #idle = new Recording(IDLE_LIMITS);
  #current: OpenIncident | undefined;
  /** The decision before the newest one, and the newest. */
  #states: readonly [before: ClusterState | undefined, now: ClusterState | undefined] = [undefined, undefined];
  #counted: Pick<ClusterState, 'at' | 'counts'> = { at: -Infinity, counts: new Map() };
  #cancelTimer: () => void = () => {};
  #savedAt: Instant = -Infinity;

  constructor(options: FlightRecorderOptions) {
    const { clock, known } = options;
    this.#options = options;
    this.#publisher = new Publisher(options);
    this.#startedAt = clock.now();
    this.#trouble = new TroubleWatch((name) => known().pools.find((pool) => pool.name === name)?.exclusive);
  }

  /** To be awaited before the first event. Never rejects. */
  async open(): Promise<void> {
    await this.#publisher.archive.open();
  }

  /** `at`: when it happened, which may be before this call. Cheap, and never throws. */
  take(event: ReportedEvent, number: number, at: Instant): void {
    const wasGoingOn = this.#current !== undefined && this.#trouble.isGoingOn();
    const kinds = this.#trouble.take(event, at);
    if (wasGoingOn) this.#lifecycle.goesOn(at);
    if (kinds.length > 0) this.#begin(kinds, at, number - 1, planOf(event, kinds), wasGoingOn);
    const isRecorded = this.#recording().take(event, number, happenedAt(event, at));
    if (this.#current === undefined) {
      if (event.kind === 'route_changed') this.#schedule();
      return;
    }
    if (!isRecorded || event.kind === 'probe_finished') return;
    this.#current.hasNews = true;
    if (event.kind === 'route_changed') {
      this.#show('during');
      if (at >= this.#savedAt + SOON_MS) this.#save();
      this.#schedule();
    }
  }

  /** After each decision. Cheap. */
  tableChanged(): void {
    const { clock, known, counts } = this.#options;
    const at = clock.now();
    if (at >= this.#counted.at + COUNT_MS) this.#counted = { at, counts: counts() };
    this.#states = [this.#states[1], { at, ...known(), counts: this.#counted.counts }];
  }

  /** Writes an open incident: its end is not recorded. */
  async close(): Promise<void> {
    this.#cancelTimer();
    if (this.#current !== undefined) this.#publisher.publish(this.#current, undefined, true);
    await this.#publisher.written();
  }

  /** Newest first. */
  list(): readonly IncidentEntry[] {
    return this.#publisher.archive.list();
  }

  /** Undefined: no incident has this id, or its file cannot be read. Never rejects. */
  async get(id: string, { isUnredacted = false }: ShowOptions): Promise<IncidentDocument | undefined> {
    const { archive } = this.#publisher;
    const document = await (this.#current?.id === id ? this.#publisher.documentOf(this.#current) : archive.get(id));
    if (document === undefined || isUnredacted) return document;
    const { redacted } = await import('./redact.ts');
    return redacted(document);
  }

  /** At most 64 kB for a ticket. Undefined as for get(). Never rejects. */
  async text(id: string, options: ShowOptions): Promise<string | undefined> {
    const document = await this.get(id, options);
    if (document === undefined) return undefined;
    const { incidentText } = await import('./incident-text.ts');
    return incidentText(document);
  }

  /** The events of the last minute, or of the incident that is open, in the order of their times. */
  recorded(): readonly RecordingEntry[] {
    return this.#recording().entries();
  }

  /** The incident that is open, or has settled and may open again. */
  currentId(): string | undefined {
    return this.#current?.id;
  }

  /** Calls `listener` with each change of state. Returns a function that ends it. */
  subscribe(listener: (change: IncidentChange, document: IncidentDocument) => void): () => void {
    return this.#publisher.subscribe(listener);
  }

  #recording(): Recording {
    return this.#current?.recording ?? this.#idle;
  }

  #begin(
    kinds: readonly IncidentKind[],
    at: Instant,
    after: number,
    plan: TroubleKind = 'unplanned',
    wasGoingOn = false,
  ): void {
    for (const step of this.#lifecycle.trouble(at, plan, wasGoingOn)) this.#carryOut(step, at, after);
    for (const kind of kinds) this.#current?.add(kind);
    this.#schedule();
  }

  #carryOut(step: Step, at: Instant, after: number): void {
    switch (step) {
      case 'open':
        return this.#start(at, after, undefined);
      case 'reopen':
        this.#current?.reopen(at);
        return this.#save('reopened');
      case 'settle':
        this.#current?.settle(at);
        this.#show('after');
        return this.#save('settled');
      case 'close':
        this.#current?.settle(at);
        // The newest decision is about the other trouble already.
        this.#show('after', this.#states[0]);
        this.#save('settled');
        return this.#end();
      case 'end':
        return this.#end();
      case 'roll_over':
        return this.#rollOver(at, after);
    }
  }

  #start(at: Instant, after: number, continued: OpenIncident | undefined): void {
    const { ids, version, workers } = this.#options;
    if (continued === undefined) this.#publisher.setClock();
    const time = (instant: Instant): string => this.#publisher.time(instant);
    const start = {
      id: this.#publisher.archive.newId(time(at).slice(0, 10)),
      openedAt: at,
      continues: continued?.id,
      startedAt: this.#startedAt,
      recorder: { version, run: ids.run, started_at: time(this.#startedAt), workers },
    };
    const incident = new OpenIncident(start, continued?.recording ?? this.#idle);
    this.#current = incident;
    this.#idle = new Recording(IDLE_LIMITS);
    const before = continued === undefined ? this.#states[0] : this.#states[1];
    if (before !== undefined) incident.show('before', before, after);
    this.#save('opened');
  }

  #end(): void {
    if (this.#current !== undefined) {
      this.#idle.adopt(this.#current.recording, this.#options.clock.now() - COUNT_MS);
      this.#save();
    }
    this.#current = undefined;
  }

  #rollOver(at: Instant, after: number): void {
    const last = this.#current;
    if (last === undefined) return;
    this.#show('after');
    const kinds = last.kinds();
    this.#start(at, after, last);
    if (this.#trouble.isGoingOn()) for (const kind of kinds) this.#current?.add(kind);
    last.settle(at, this.#current?.id);
    this.#publisher.publish(last, 'settled');
  }

  #show(when: 'during' | 'after', now = this.#states[1]): void {
    const { ids, counts, clock } = this.#options;
    if (now !== undefined) this.#current?.show(when, { ...now, at: clock.now(), counts: counts() }, ids.last());
  }

  #schedule(): void {
    this.#cancelTimer();
    const { clock } = this.#options;
    const dueAt = Math.min(this.#lifecycle.dueAt(), this.#trouble.dueAt());
    if (dueAt === Infinity) return;
    this.#cancelTimer = clock.schedule(Math.max(1, dueAt - clock.now()), () => {
      try {
        this.#tick();
      } catch (error) {
        this.#options.onFault(error);
      }
    });
  }

  #tick(): void {
    const now = this.#options.clock.now();
    const after = this.#options.ids.last();
    const kinds = this.#trouble.tick(now);
    if (kinds.length > 0) this.#begin(kinds, now, after);
    const hasNews = this.#current?.hasNews ?? false;
    for (const step of this.#lifecycle.tick(now, this.#trouble.isGoingOn(), hasNews)) this.#carryOut(step, now, after);
    if (this.#current !== undefined && now >= this.#savedAt + SAVE_MS) this.#save();
    this.#schedule();
  }

  #save(change?: IncidentChange): void {
    this.#savedAt = this.#options.clock.now();
    if (this.#current !== undefined) this.#publisher.publish(this.#current, change);
  }
}

/** A session is reported when its client has closed. It ended before. */
function happenedAt(event: ReportedEvent, at: Instant): Instant {
  return event.kind === 'session_closed' ? at - (event.lingeredMs ?? 0) : at;
}

/** Whether an operation wants the trouble that begins with this event, or something failed. */
function planOf(event: ReportedEvent, kinds: readonly IncidentKind[]): TroubleKind {
  if (!kinds.some((kind) => ABOUT_PRIMARY.has(kind))) return 'side';
  return event.kind === 'route_changed' && isPlanned(event.to) ? 'planned' : 'unplanned';
}

const ABOUT_PRIMARY: ReadonlySet<IncidentKind> = new Set(['primary_lost', 'two_primaries', 'all_members_silent']);
