// The findings about the cluster: the timeline of its primary before and after, and members that may not be contacted.
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

/** The newest list of them. It can be the reason why a pool has no member. */
export function refusedMembers(evidence: IncidentEvidence): readonly Finding[] {
  const newest = ofKind(evidence.events, 'members_refused').at(-1);
  if (newest === undefined || newest.event.refused.length === 0) return [];
  const members = newest.event.refused.map(({ name, why }) => ({ member: name, why }));
  const named = members.map(({ member, why }) => `${member} (${why})`).join(', ');
  return [{ finding: 'members_refused', members, event_ids: idsOf([newest]), text: `Not used: ${named}.` }];
}
