// Questions to a whole cluster: which member is primary, what /cluster shows, and whether every replica streams.
import { type ClusterDocument, parseClusterDocument, parseMemberStatus } from './documents.ts';
import type { HttpAnswer } from './http.ts';
import type { AskedMember } from './member.ts';

/** True when /primary holds and the body agrees: the status alone means "has the leader lock". */
export function isPrimaryAnswer(answer: HttpAnswer | undefined): boolean {
  const { state, role } = parseMemberStatus(answer) ?? {};
  // `master` is the role of versions before 4.0.
  return answer?.status === 200 && state === 'running' && (role === 'primary' || role === 'master');
}

/** The one on the higher timeline, if two claim it (a thawed one). */
export async function findPrimary<M extends AskedMember>(members: readonly M[]): Promise<M | undefined> {
  const claims = await Promise.all(
    members.map(async (member) => {
      const answer = await member.ask('/primary');
      return { member, timeline: parseMemberStatus(answer)?.timeline ?? 0, isPrimary: isPrimaryAnswer(answer) };
    }),
  );
  return claims.filter((claim) => claim.isPrimary).toSorted((a, b) => b.timeline - a.timeline)[0]?.member;
}

/** From the first member that answers; /cluster asks etcd, so it may take seconds when etcd is away. */
export async function readClusterDocument(
  members: readonly AskedMember[],
  timeoutMs: number,
): Promise<ClusterDocument | undefined> {
  const answers = members.map(async (member) => {
    const document = parseClusterDocument(await member.ask('/cluster', { timeoutMs }));
    if (document === undefined) throw new Error(`${member.name} gave no cluster document`);
    return document;
  });
  return await Promise.any(answers).catch(() => undefined);
}

/** Resolves with true, or rejects with the reason, which a wait that fails tells. */
export async function healthy(members: readonly AskedMember[]): Promise<true> {
  return succeedUnless(await reasonUnhealthy(members));
}

/** True when the member streams from the primary among `members`, or is it; else as `healthy`. */
export async function joined(member: AskedMember, members: readonly AskedMember[]): Promise<boolean> {
  const primary = await findPrimary(members);
  if (primary === undefined) return false;
  return primary === member || succeedUnless(await reasonNotStreaming(primary, member));
}

function succeedUnless(reason: string | undefined): true {
  if (reason !== undefined) throw new Error(reason);
  return true;
}

/** Undefined when the primary's own view says that the member streams from it and the member runs on its timeline. */
async function reasonNotStreaming(primary: AskedMember, replica: AskedMember): Promise<string | undefined> {
  const [own, leading] = await Promise.all([replica.status(), primary.status()]);
  if (own?.state !== 'running' || own.role !== 'replica') {
    return `${replica.name} is ${own?.role ?? 'silent'}, ${own?.state ?? 'no state'}`;
  }
  if (own.timeline !== leading?.timeline) {
    return `${replica.name} is on timeline ${own.timeline}, ${primary.name} on ${leading?.timeline}`;
  }
  const streams = leading?.replication?.some(
    ({ application_name: name, state }) => name === replica.name && state === 'streaming',
  );
  return streams === true ? undefined : `${replica.name} does not stream from ${primary.name}`;
}

/** Undefined when one member is primary, every other one streams from it, and /cluster shows the same. */
async function reasonUnhealthy(members: readonly AskedMember[]): Promise<string | undefined> {
  const primary = await findPrimary(members);
  if (primary === undefined) return 'no member answers as primary';
  for (const replica of members.filter((member) => member !== primary)) {
    const reason = await reasonNotStreaming(primary, replica);
    if (reason !== undefined) return reason;
  }
  const document = await readClusterDocument(members, 2000);
  for (const member of members) {
    const listed = document?.members.find((entry) => entry.name === member.name);
    const isLeader = listed?.role === 'leader';
    if (listed === undefined || isLeader !== (member === primary) || !['running', 'streaming'].includes(listed.state)) {
      return `/cluster lists ${member.name} as ${JSON.stringify(listed)}`;
    }
  }
  return undefined;
}
