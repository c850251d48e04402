// The names of WAL files, and which of them hold the WAL up to a position. Timelines are PostgreSQL's. Pure.
import { parseLsn } from '../../model/lsn.ts';

/** initdb's default, which the sandbox keeps. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;

/** A timeline that is over: PostgreSQL's history file has one line for each. */
export interface EndedTimeline {
  readonly timeline: number;
  readonly endsAt: number;
}

/** A timeline and those that it came from, oldest first. */
export interface Lineage {
  readonly timeline: number;
  readonly ended: readonly EndedTimeline[];
}

/** The number of the segment that has the byte before the position: recovery up to there needs no later one. */
export function lastSegment(position: number): number {
  return Math.floor((position - 1) / SEGMENT_BYTES);
}

export function firstSegment(position: number): number {
  return Math.floor(position / SEGMENT_BYTES);
}

/** 24 hexadecimal digits: timeline, then the segment's number in two parts (xlog_internal.h, XLogFileName). */
export function segmentFile(timeline: number, segment: number): string {
  return [timeline, Math.floor(segment / 256), segment % 256].map((part) => hex(part).padStart(8, '0')).join('');
}

/** Undefined: it is no file of a segment. A file that ended with its timeline has the suffix `.partial`. */
export function segmentOfFile(file: string): number | undefined {
  const [, high = '', low = ''] = /^[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})(?:\.partial)?$/.exec(file) ?? [];
  return high === '' ? undefined : Number.parseInt(high, 16) * 256 + Number.parseInt(low, 16);
}

export function historyFile(timeline: number): string {
  return `${hex(timeline).padStart(8, '0')}.history`;
}

export function parseHistory(text: string): readonly EndedTimeline[] {
  return text.split('\n').flatMap((line) => {
    const [timeline = '', lsn = ''] = line.trim().split('\t');
    const endsAt = parseLsn(lsn);
    return /^\d+$/.test(timeline) && endsAt !== undefined ? [{ timeline: Number(timeline), endsAt }] : [];
  });
}

/** The lineage as it was at the position. */
export function lineageAt({ timeline, ended }: Lineage, position: number): Lineage {
  const at = ended.findIndex(({ endsAt }) => position <= endsAt);
  const last = ended[at];
  return last === undefined ? { timeline, ended } : { timeline: last.timeline, ended: ended.slice(0, at) };
}

/**
 * The timeline whose file has this segment. PostgreSQL takes the file of the newest timeline that had begun in or
 * before the segment: such a file begins with the WAL of the timeline before.
 */
export function timelineOfSegment({ timeline, ended }: Lineage, segment: number): number {
  const before = ended.filter(({ endsAt }) => firstSegment(endsAt) > segment);
  return before[0]?.timeline ?? timeline;
}

/** Whether the position of that timeline belongs to the lineage. */
export function hasPosition({ timeline, ended }: Lineage, of: number, position: number): boolean {
  if (of === timeline) return true;
  return ended.some((one) => one.timeline === of && position <= one.endsAt);
}

function hex(value: number): string {
  return value.toString(16).toUpperCase();
}
