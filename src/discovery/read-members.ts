// What a cluster document says about members, before anything of it is believed: one entry per name, and who leads.
import type { MemberName, MemberRefusal } from '../model/member.ts';
import type { ClusterDocument, ClusterMember } from '../patroni/cluster-document.ts';
import type { ContactPoints } from './contact-points.ts';
import { configuredAs, MAX_MEMBERS } from './known-members.ts';
import type { Vetted } from './check-addresses.ts';

/** Entries of one document that are named as refused before they are vetted. */
const MAX_REFUSED = 2 * MAX_MEMBERS;

/** The leader of a cluster that takes writes: a standby leader is none, and must not be vouched for as one. */
export interface NamedLeader {
  readonly name: MemberName;
  readonly state: string | undefined;
  readonly timeline: number | undefined;
}

/** Duplicate names: the first counts, as Patroni itself lets only one in. */
export function firstOfEachName(cluster: ClusterDocument): {
  entries: readonly ClusterMember[];
  refused: readonly MemberRefusal[];
} {
  const byName = new Map<string, ClusterMember>();
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
  entries: readonly ClusterMember[],
  vetted: readonly Vetted[],
  points: ContactPoints,
): NamedLeader | undefined {
  const entry = entries.find(({ role }) => role === 'leader');
  const seen = vetted.find((one) => one.name === entry?.name);
  if (entry === undefined || seen === undefined) return undefined;
  const name = configuredAs(seen, points)?.name ?? entry.name;
  return { name, state: entry.state, timeline: entry.timeline };
}
