// One incident while it may still change: what belongs to it, collected.
import type { Instant } from '../model/instant.ts';
import type { IncidentRecord } from './incident-document.ts';
import type { ClusterState, IncidentState } from './cluster-state.ts';
import { Recording, type RecordingLimits } from './recording.ts';
import type { IncidentKind } from './schema.ts';

const LIMITS: RecordingLimits = {
  decisions: 300,
  probes: 200,
  sessions: 200,
  traffic: 200,
  singleSessions: 100,
  keepsFirst: true,
};

/** Events that happened so long before it belong to it. Milliseconds. */
const BEFORE_MS = 60_000;

const MOST_STATES = 20;
const MOST_REOPENINGS = 20;

export type IncidentStart = Pick<IncidentRecord, 'id' | 'openedAt' | 'continues' | 'startedAt' | 'recorder'>;

export class OpenIncident {
  readonly id: string;
  readonly recording = new Recording(LIMITS);
  readonly #start: IncidentStart;
  readonly #kinds: IncidentKind[] = [];
  readonly #states: IncidentState[] = [];
  #reopenedAt: readonly Instant[] = [];
  #settledAt: Instant | undefined;
  #continuedBy: string | undefined;
  /** Something other than a probe has happened since the beginning. */
  hasNews = false;

  /** `before`: the events of the time before it. */
  constructor(start: IncidentStart, before: Recording) {
    this.#start = start;
    this.id = start.id;
    this.recording.adopt(before, start.openedAt - BEFORE_MS);
  }

  add(kind: IncidentKind): void {
    if (!this.#kinds.includes(kind)) this.#kinds.push(kind);
  }

  kinds(): readonly IncidentKind[] {
    return this.#kinds;
  }

  /**
   * The first one and the newest ones stay; of one decision, which may change several routes, the last one. `after`:
   * the number of the newest event before it.
   */
  show(when: IncidentState['when'], state: ClusterState, after: number): void {
    const last = this.#states.at(-1);
    if (last?.when === when && last.table === state.table) this.#states.pop();
    this.#states.push({ ...state, when, after });
    if (this.#states.length > MOST_STATES) this.#states.splice(MOST_STATES / 2, 1);
  }

  reopen(at: Instant): void {
    this.#settledAt = undefined;
    this.#reopenedAt = [...this.#reopenedAt, at].slice(-MOST_REOPENINGS);
    // It was not the end.
    const last = this.#states.at(-1);
    if (last?.when === 'after') this.#states[this.#states.length - 1] = { ...last, when: 'during' };
  }

  settle(at: Instant, continuedBy?: string): void {
    this.#settledAt ??= at;
    this.#continuedBy = continuedBy;
  }

  recorded(): IncidentRecord {
    return {
      ...this.#start,
      state: this.#settledAt === undefined ? 'open' : 'settled',
      settledAt: this.#settledAt,
      reopenedAt: this.#reopenedAt,
      continuedBy: this.#continuedBy,
      kinds: this.#kinds,
      states: this.#states,
      entries: this.recording.entries(),
      dropped: this.recording.dropped(),
    };
  }
}
