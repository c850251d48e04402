// The timeline of the primary before and after the incident.
import { ofKind } from '../../reports/events.ts';
import type { Finding } from '../schema.ts';
import { idsOf, type IncidentEvidence } from './recorded-events.ts';

export function timelines(evidence: IncidentEvidence): readonly Finding[] {
  const { snapshots } = evidence;
  const before = snapshots[0]?.timeline ?? null;
  const after = snapshots.at(-1)?.timeline ?? null;
  if (snapshots.length < 2 || (before === null && after === null)) return [];
  const isSame = before === after;
  const first = ofKind(evidence.events, 'member_reported').find(({ event }) => event.timeline === after);
  const text = isSame
    ? `The timeline stayed ${before}: no member was promoted.`
    : `The timeline changed from ${before ?? 'unknown'} to ${after ?? 'unknown'}.`;
  return [{ finding: 'timelines', before, after, event_ids: isSame ? [] : idsOf([first]), text }];
}
