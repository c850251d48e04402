// Reads the members of a cluster document before any check: one entry per name, and the leader.
import type { MemberRefusal } from '../model/member.ts';
import type { MemberList } from '../model/observation.ts';
import type { ClusterDocument, DocumentMember } from '../patroni/cluster-document.ts';
import type { ContactPoints } from './contact-points.ts';
import { configuredAs, MAX_MEMBERS } from './known-members.ts';
import type { CheckedMember } from './check-addresses.ts';

/** Limit on entries of one document that are refused before the address check. */
const MAX_REFUSED = 2 * MAX_MEMBERS;

/** For duplicate names the first entry counts. Patroni itself allows a name once. */
export function firstOfEachName(cluster: ClusterDocument): {
  entries: readonly DocumentMember[];
  refused: readonly MemberRefusal[];
} {
  const byName = new Map<string, DocumentMember>();
  const refused: MemberRefusal[] = cluster.skipped
    .slice(0, MAX_MEMBERS)
    .map((one) => ({ ...one, reason: 'unreadable' }));
  for (const [index, entry] of cluster.members.entries()) {
    if (byName.size >= MAX_MEMBERS) {
      const name = `${cluster.members.length - index} others`;
      refused.push({ name, reason: 'too_many', why: `more than ${MAX_MEMBERS} members` });
      break;
    }
    if (byName.has(entry.name)) {
      refused.push({ name: entry.name, reason: 'duplicate', why: 'another member has this name' });
    } else {
      byName.set(entry.name, entry);
    }
  }
  return { entries: [...byName.values()], refused: refused.slice(0, MAX_REFUSED) };
}

export function leaderOf(
  entries: readonly DocumentMember[],
  checked: readonly CheckedMember[],
  points: ContactPoints,
): MemberList['leader'] {
  const entry = entries.find(({ role }) => role === 'leader');
  const seen = checked.find((one) => one.name === entry?.name);
  if (entry === undefined || seen === undefined) return undefined;
  return { name: configuredAs(seen, points)?.name ?? entry.name, state: entry.state };
}
