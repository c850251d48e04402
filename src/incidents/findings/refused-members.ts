// Members that Pointsman may not contact: the newest list of them. It can be the reason why a pool has no member.
import { ofKind } from '../../reports/events.ts';
import type { Finding } from '../schema.ts';
import { idsOf, type IncidentEvidence } from './recorded-events.ts';

export function refusedMembers(evidence: IncidentEvidence): readonly Finding[] {
  const newest = ofKind(evidence.events, 'members_refused').at(-1);
  if (newest === undefined || newest.event.refused.length === 0) return [];
  const members = newest.event.refused.map(({ name, why }) => ({ member: name, why }));
  const named = members.map(({ member, why }) => `${member} (${why})`).join(', ');
  return [{ finding: 'members_refused', members, event_ids: idsOf([newest]), text: `Not used: ${named}.` }];
}
