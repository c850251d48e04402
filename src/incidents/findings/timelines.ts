// The timeline of the primary before and after the incident.
import type { Finding } from '../schema.ts';
import { amount, idsOf } from './document-evidence.ts';
import type { Evidence } from './document-evidence.ts';

export function timelines({ snapshots, events }: Evidence): readonly Finding[] {
  const before = snapshots[0]?.timeline ?? null;
  const after = snapshots.at(-1)?.timeline ?? null;
  if (snapshots.length < 2 || (before === null && after === null)) return [];
  const isSame = before === after;
  const first = events.find((event) => event.event === 'member_reported' && amount(event, 'timeline') === after);
  const text = isSame
    ? `The timeline stayed ${before}: no member was promoted.`
    : `The timeline changed from ${before ?? 'unknown'} to ${after ?? 'unknown'}.`;
  return [{ finding: 'timelines', before, after, event_ids: isSame ? [] : idsOf([first]), text }];
}
