// The finding about sessions that moved, or were to move, from the events that end a batch of moves.
import { countText } from '../../core/describe.ts';
import { failureText, stayText } from '../../core/pin-words.ts';
import { mostOf, sumOf } from '../../model/sums.ts';
import { sumOfMaps } from '../../reports/tally.ts';
import { ofKind } from '../../reports/events.ts';
import type { Finding, FindingOf } from '../schema.ts';
import { idsOf, secondsText, type IncidentEvidence } from './recorded-events.ts';

export function sessionsMoved(evidence: IncidentEvidence): readonly Finding[] {
  return [...Map.groupBy(ofKind(evidence.events, 'moves_finished'), ({ event }) => event.pool)].map(
    ([pool, batches]) => {
      const longestMs = mostOf(batches, ({ event }) => event.longestGapMs);
      const numbers = {
        moved: sumOf(batches, ({ event }) => event.moved),
        stayed: byReasons(batches.map(({ event }) => event.stayed)),
        failed: byReasons(batches.map(({ event }) => event.failed)),
        longest_gap_seconds: Math.round(longestMs * 1000) / 1_000_000,
      };
      return { finding: 'sessions_moved', pool, ...numbers, event_ids: idsOf(batches), text: sentence(pool, numbers) };
    },
  );
}

type MoveNumbers = Omit<FindingOf<'sessions_moved'>, 'finding' | 'pool' | 'event_ids' | 'text'>;
type ReasonCounts = MoveNumbers['stayed'];

/** The most frequent reason first. */
function byReasons(counts: readonly Readonly<Partial<Record<string, number>>>[]): ReasonCounts {
  const sums = sumOfMaps(
    counts.map((one) => new Map(Object.entries(one).map(([reason, count = 0]) => [reason, count]))),
  );
  return [...sums].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count);
}

function sentence(pool: string, { moved, stayed, failed, longest_gap_seconds: gap }: MoveNumbers): string {
  const gaps = moved === 0 ? '' : ` (longest gap ${secondsText(gap)})`;
  const parts = [
    `${countText(moved, 'session')} of pool ${pool} moved${gaps}`,
    ...stayText(countsOf(stayed), 'stayed'),
    ...failureText(countsOf(failed)),
  ];
  return `${parts.join('; ')}.`;
}

function countsOf(counts: ReasonCounts): Readonly<Record<string, number>> {
  return Object.fromEntries(counts.map(({ reason, count }) => [reason, count]));
}
