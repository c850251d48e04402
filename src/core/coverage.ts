// Whether a session whose primary was lost without warning may go on at the next primary: only if the next primary has
// everything that the session was told. The proof has two parts. A WAL position that the lost primary reported after
// the session's last answer contains all of that answer. The history of timelines says up to which position the next
// primary has the WAL of the lost one. Everything unknown is a no. Pure.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';

/** One run of a server on one timeline. */
export interface ServerRun {
  readonly timeline: number;
  /** When its PostgreSQL started, as the member reports it. Only compared. */
  readonly startedAt: string;
}

/** A WAL position that a running primary reported about itself. */
export interface WalSample {
  /** When it was asked for: the position is at least that young. */
  readonly at: Instant;
  readonly run: ServerRun;
  readonly bytes: number;
}

/** The history of timelines, as the primary of `timeline` has it. */
export interface TimelineEnds {
  readonly timeline: number;
  readonly primary: MemberName;
  /** The WAL position in bytes at which each older timeline ended. */
  readonly ends: ReadonlyMap<number, number>;
}

/** The last answer that a session got. */
export interface LastAnswer {
  readonly member: MemberName;
  /** From then on everything that the answer showed is on disk: `flushedAt` of the instant when it was complete. */
  readonly flushedAt: Instant;
  /**
   * The member's run by a sample that was asked for before a request that the session's server has answered: its server
   * is of this run or of a later one.
   */
  readonly run: ServerRun;
}

export type Coverage =
  | { readonly kind: 'covered' }
  /** `why` is one clause. `mayCome`: the history may say so later. */
  | { readonly kind: 'uncovered'; readonly why: string; readonly mayCome: boolean };

/**
 * PostgreSQL shows a transaction to others, and to its own client with synchronous_commit = off, before its WAL is on
 * disk. The WAL writer needs up to three rounds for that, of `wal_writer_delay` each.
 */
const FLUSH_ROUNDS = 3;
/** A round begins late on a busy machine. Milliseconds. */
const LATE_MS = 100;
/** A flush counts as at least so long, however short the rounds are. Milliseconds. */
const LEAST_FLUSH_MS = 1_000;

/**
 * The end of a connection may arrive this much later than it happened. Within that time a server that recovers in place
 * looks as if it had never stopped. Milliseconds.
 */
const NOTICED_WITHIN_MS = 2_000;

/** `toldAt`: when the last answer was complete. */
export function flushedAt(toldAt: Instant, walWriterDelayMs: number): Instant {
  return toldAt + Math.max(LEAST_FLUSH_MS, FLUSH_ROUNDS * walWriterDelayMs + LATE_MS);
}

/**
 * The first position that certainly contains what the session was told. `samples`: of the session's member, newest
 * first, all of them known when the session lost its server.
 */
export function proofOf(told: LastAnswer, samples: readonly WalSample[]): WalSample | undefined {
  return samples.findLast(({ at, run }) => at >= told.flushedAt && isSameRun(run, told.run));
}

export interface Loss {
  readonly told: LastAnswer;
  /** By `proofOf`. */
  readonly proof: WalSample | undefined;
  /** When the session lost its server. */
  readonly at: Instant;
}

export interface NextPrimary {
  readonly member: MemberName;
  /** Its newest position. */
  readonly sample: WalSample | undefined;
}

export function coverageOf({ told, proof, at }: Loss, next: NextPrimary, known: TimelineEnds | undefined): Coverage {
  if (proof === undefined) return never('no WAL position of the lost server is known from after its last answer');
  if (at < told.flushedAt + NOTICED_WITHIN_MS) return never('its last answer came too soon before the loss');
  const { timeline } = told.run;
  const { sample } = next;
  if (sample === undefined) return notYet('the timeline of the next primary is not known');
  if (next.member === told.member && sample.run.timeline === timeline) return inPlace(proof, sample);
  // Two servers may have given the same number to different timelines.
  if (sample.run.timeline <= timeline) return never(`the next primary is on timeline ${sample.run.timeline}`);
  if (known?.timeline !== sample.run.timeline || known.primary !== next.member) {
    return notYet(`the history of timeline ${sample.run.timeline} is not known`);
  }
  const end = endOf(timeline, known);
  if (end === undefined) return notYet(`the history of timelines does not say where timeline ${timeline} ended`);
  if (proof.bytes <= end) return { kind: 'covered' };
  return never(`the last answer may be up to ${proof.bytes - end} bytes of WAL behind the end of timeline ${timeline}`);
}

/** Crash recovery keeps everything that is on disk. */
function inPlace(proof: WalSample, { bytes }: WalSample): Coverage {
  return bytes < proof.bytes ? never('the server has less WAL than before') : { kind: 'covered' };
}

/** Along one history each timeline ends behind the one before it; the lowest end is right in any case. */
function endOf(timeline: number, { ends }: TimelineEnds): number | undefined {
  if (!ends.has(timeline)) return undefined;
  return Math.min(...[...ends].filter(([ended]) => ended >= timeline).map(([, end]) => end));
}

function isSameRun(a: ServerRun, b: ServerRun): boolean {
  return a.timeline === b.timeline && a.startedAt === b.startedAt;
}

function never(why: string): Coverage {
  return { kind: 'uncovered', why, mayCome: false };
}

function notYet(why: string): Coverage {
  return { kind: 'uncovered', why, mayCome: true };
}

export interface HistoryLine {
  readonly timeline: number;
  readonly lsn: number;
  readonly newLeader?: string;
}

/**
 * The ends by a history document, read from the API of `primary` after it was seen as the primary of `timeline`.
 * Undefined: the document is not the history of that timeline yet, or of another server that gave it the same number.
 * `primaries`: the members that were seen as the primary of it.
 */
export function timelineEnds(
  lines: readonly HistoryLine[],
  primary: MemberName,
  timeline: number,
  primaries: readonly MemberName[],
): TimelineEnds | undefined {
  const last = lines.at(-1);
  if (last?.timeline !== timeline - 1) return undefined;
  const isItsOwn =
    last.newLeader === undefined ? primaries.every((name) => name === primary) : last.newLeader === primary;
  const isInOrder = lines.every((line, index) => {
    const before = lines[index - 1];
    return before === undefined || (before.timeline < line.timeline && before.lsn <= line.lsn);
  });
  if (!isItsOwn || !isInOrder) return undefined;
  return { timeline, primary, ends: new Map(lines.map((line) => [line.timeline, line.lsn])) };
}
