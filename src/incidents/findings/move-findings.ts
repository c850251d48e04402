// The finding about sessions that moved, or were to move, from the events that end a batch of moves.
import { countText } from '../../core/describe.ts';
import { staysText } from '../../core/pin-words.ts';
import type { Finding, FindingOf, IncidentEvent } from '../schema.ts';
import { amount, idsOf, secondsText, text } from './document-evidence.ts';
import type { Evidence } from './document-evidence.ts';

export function sessionsMoved({ events }: Evidence): readonly Finding[] {
  const finished = events.filter((event) => event.event === 'moves_finished');
  return [...Map.groupBy(finished, (event) => text(event, 'pool') ?? '')].map(([pool, batches]) => {
    const numbers = {
      moved: batches.reduce((sum, batch) => sum + (amount(batch, 'moved') ?? 0), 0),
      stayed: countsIn(batches, 'stayed'),
      failed: countsIn(batches, 'failed'),
      longest_gap_seconds:
        batches.reduce((most, batch) => Math.max(most, amount(batch, 'longest_gap_ms') ?? 0), 0) / 1000,
    };
    return { finding: 'sessions_moved', pool, ...numbers, event_ids: idsOf(batches), text: sentence(pool, numbers) };
  });
}

type Numbers = Omit<FindingOf<'sessions_moved'>, 'finding' | 'pool' | 'event_ids' | 'text'>;
type Counts = Numbers['stayed'];

/** The sum of a field with counts by reason. The most frequent reason first. */
function countsIn(events: readonly IncidentEvent[], field: string): Counts {
  const sums = new Map<string, number>();
  for (const { fields } of events) {
    for (const [reason, count] of Object.entries(fields[field] ?? {})) {
      if (typeof count === 'number') sums.set(reason, (sums.get(reason) ?? 0) + count);
    }
  }
  return [...sums].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count);
}

function sentence(pool: string, { moved, stayed, failed, longest_gap_seconds: gap }: Numbers): string {
  const gaps = moved === 0 ? '' : ` (longest gap ${secondsText(gap)})`;
  const parts = [
    `${countText(moved, 'session')} of pool ${pool} moved${gaps}`,
    ...(stayed.length === 0 ? [] : [`${total(stayed)} stayed: ${staysText(byReason(stayed))}`]),
    ...(failed.length === 0
      ? []
      : [`${total(failed)} failed: ${failed.map(({ reason, count }) => `${count} ${reason}`).join(', ')}`]),
  ];
  return `${parts.join('; ')}.`;
}

function byReason(counts: Counts): Readonly<Record<string, number>> {
  return Object.fromEntries(counts.map(({ reason, count }) => [reason, count]));
}

function total(counts: Counts): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
