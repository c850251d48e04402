// Members that Pointsman may not contact: the newest list of them. It can be the reason why a pool has no member.
import type { Finding } from '../schema.ts';
import { idsOf } from './document-evidence.ts';
import type { Evidence } from './document-evidence.ts';

export function refusedMembers({ events }: Evidence): readonly Finding[] {
  const newest = events.findLast((event) => event.event === 'members_refused');
  const listed = newest?.fields['refused'];
  const members = Array.isArray(listed) ? listed.flatMap(memberOf) : [];
  if (newest === undefined || members.length === 0) return [];
  const named = members.map(({ member, why }) => `${member} (${why})`).join(', ');
  return [{ finding: 'members_refused', members, event_ids: idsOf([newest]), text: `Not used: ${named}.` }];
}

function memberOf(one: unknown): readonly { readonly member: string; readonly why: string }[] {
  if (typeof one !== 'object' || one === null || !('name' in one) || !('why' in one)) return [];
  return [{ member: String(one.name), why: String(one.why) }];
}
