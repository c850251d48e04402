// The timeline history (GET /history): one entry per change of timeline. Shown, and used for sessions that lost their
// primary (core/coverage.ts). No route depends on it.
import { z } from 'zod';
import { identifier, integer, line, maybe, present, timeline } from './fields.ts';

export interface TimelineEnd {
  readonly timeline: number;
  /** Where the timeline ended, in bytes. */
  readonly lsn: number;
  readonly reason: string;
  /** ISO 8601: when the next timeline began. */
  readonly at?: string;
  /** The new leader. Only some versions report it. */
  readonly newLeader?: string;
}

export type ParsedHistory =
  | { readonly kind: 'history'; readonly entries: readonly TimelineEnd[]; readonly skipped: number }
  | { readonly kind: 'invalid'; readonly why: string };

// Patroni omits the timestamp of a timeline whose beginning it did not see.
const entry = z
  .tuple([timeline, integer, line])
  .rest(z.unknown())
  .transform(([timeline, lsn, reason, at, newLeader]): TimelineEnd => {
    return {
      timeline,
      lsn,
      reason,
      ...present({ at: maybe(line).parse(at), newLeader: maybe(identifier).parse(newLeader) }),
    };
  });

/** Reads a parsed JSON value. Unreadable entries are skipped and counted. */
export function readHistory(json: unknown): ParsedHistory {
  if (!Array.isArray(json)) return { kind: 'invalid', why: 'not a JSON array' };
  const entries = json.flatMap((element: unknown) => {
    const parsed = entry.safeParse(element);
    return parsed.success ? [parsed.data] : [];
  });
  return { kind: 'history', entries, skipped: json.length - entries.length };
}
