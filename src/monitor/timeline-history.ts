// Reads where the older timelines ended, from the API of the primary of a new timeline. For sessions that lost their
// primary without warning (core/coverage.ts); no route depends on it. The store has the new line some seconds after the
// promotion, so the read is repeated until the document says it, more and more seldom.
import { timelineEnds, type HistoryLine, type TimelineEnds } from '../core/coverage.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { Member } from '../model/member.ts';
import { isAnswering, type MemberRecord, type Snapshot } from '../core/snapshot.ts';

/** From the API of a member whose address discovery allows. Undefined: no answer that can be read. Never rejects. */
export type ReadHistory = (member: Member) => Promise<readonly HistoryLine[] | undefined>;

export interface TimelineHistoryOptions {
  /** Read at each observation. Undefined: nobody needs the history. */
  readonly read: () => ReadHistory | undefined;
  readonly clock: Clock;
  readonly snapshot: () => Snapshot;
  readonly onEnds: (ends: TimelineEnds) => void;
}

/** Between two reads for the same timeline. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A pause is this part of the time since the first read: parked sessions wait for the line of `/history`. */
const PAUSE_PART = 1 / 3;

/** The primary of the highest timeline, as long as it answers so. */
interface HistoryQuestion {
  readonly timeline: number;
  readonly primary: Member;
}

export class TimelineHistory {
  readonly #options: TimelineHistoryOptions;
  #sought: { readonly key: string; dueAt: Instant; readonly since: Instant } | undefined;
  #isReading = false;

  constructor(options: TimelineHistoryOptions) {
    this.#options = options;
  }

  /** To be called after each observation. */
  look(): void {
    const { read, clock, snapshot } = this.#options;
    const readHistory = read();
    if (readHistory === undefined || this.#isReading) return;
    const sought = soughtIn(snapshot());
    if (sought === undefined) return;
    const now = clock.now();
    const key = JSON.stringify([sought.timeline, sought.primary.name]);
    if (this.#sought?.key !== key) this.#sought = { key, dueAt: -Infinity, since: now };
    const state = this.#sought;
    if (now < state.dueAt) return;
    state.dueAt = now + Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, (now - state.since) * PAUSE_PART));
    void this.#read(readHistory, sought);
  }

  async #read(readHistory: ReadHistory, { timeline, primary }: HistoryQuestion): Promise<void> {
    this.#isReading = true;
    const lines = await readHistory(primary);
    this.#isReading = false;
    const { highestTimeline, highestTimelineBy } = this.#options.snapshot();
    if (lines === undefined || highestTimeline !== timeline) return;
    const ends = timelineEnds(lines, primary.name, timeline, highestTimelineBy);
    if (ends !== undefined) this.#options.onEnds(ends);
  }
}

function soughtIn({
  members,
  highestTimeline: timeline,
  highestTimelineBy,
  timelineEnds: known,
}: Snapshot): HistoryQuestion | undefined {
  if (timeline === undefined || timeline === 1) return undefined;
  const isPrimary = (record: MemberRecord | undefined): record is MemberRecord =>
    isAnswering(record) && record?.status?.role === 'primary' && record.status.timeline === timeline;
  const records = highestTimelineBy.map((name) => members.get(name)).filter(isPrimary);
  // With two of them it is not known whose history the store has.
  const [record] = records;
  if (record === undefined || records.length > 1) return undefined;
  const primary = record.member;
  return known?.timeline === timeline && known.primary === primary.name ? undefined : { timeline, primary };
}
