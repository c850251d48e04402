// The cluster's timelines as the leader publishes them. PostgreSQL's history file (TIMELINEHISTORY of the replication
// protocol) says where each one ended and why. The store remembers the time and the leader.
import { parseLsn } from '../../model/lsn.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { TimelineHistoryEntry } from './view.ts';

/** Undefined when the server does not answer. */
export async function readTimelineHistory(
  server: PostgresServer,
  timeline: number,
  known: readonly TimelineHistoryEntry[],
  leader: string,
): Promise<readonly TimelineHistoryEntry[] | undefined> {
  const file = `pg_wal/${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
  try {
    const [row] = await server.query<{ text: string | null }>('select pg_read_file($1, true) as text', [file]);
    const text = row?.text ?? undefined;
    return text === undefined ? undefined : mergeHistory(text, known, leader, new Date());
  } catch {
    return undefined;
  }
}

/** One line for each timeline: its number, the position where it ended, the reason. */
export function mergeHistory(
  text: string,
  known: readonly TimelineHistoryEntry[],
  leader: string,
  now: Date,
): readonly TimelineHistoryEntry[] {
  const lines = text.split('\n').filter((line) => /^\s*\d/.test(line));
  return lines.flatMap((line, index): readonly TimelineHistoryEntry[] => {
    const [timeline = '', position = '', reason = ''] = line.trim().split('\t');
    const endedAt = parseLsn(position);
    if (endedAt === undefined) return [];
    const entry = { timeline: Number(timeline), endedAt };
    const before = known.find((one) => one.timeline === entry.timeline && one.endedAt === endedAt);
    if (before !== undefined) return [before];
    const isLast = index === lines.length - 1;
    return [{ ...entry, reason, createdAt: isoWithOffset(now), newLeader: isLast ? leader : '' }];
  });
}

/** In Patroni's format: `2026-07-01T12:00:00.123000+00:00`. */
export function isoWithOffset(date: Date): string {
  return date.toISOString().replace('Z', '000+00:00');
}
