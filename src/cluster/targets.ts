// Which API gets an operation: that of its member; for everything else the leader's, or else the next one that can be
// reached. Pure.
import { isSameAddress, type ApiEndpoint, type Member, type MemberName, type MemberRefusal } from '../model/member.ts';
import { unknownText } from '../model/printable.ts';
import type { ClusterDocument } from '../patroni/cluster-document.ts';
import { leaderOf } from './cluster-report.ts';
import type { ClusterOperation, ControlReading } from './control.ts';

/** `members`: those whose addresses may be contacted. */
export type FoundCluster =
  | {
      readonly kind: 'found';
      readonly members: readonly Member[];
      readonly refused: readonly MemberRefusal[];
      readonly document: ClusterDocument;
      /** The API that gave the document. */
      readonly from: ApiEndpoint;
    }
  | { readonly kind: 'failed'; readonly why: string; readonly members: readonly Member[] };

/** An API, with the name that sentences give it. */
export interface ApiTarget {
  readonly api: ApiEndpoint;
  readonly name: string;
}

export type ApiTargets = ControlReading<readonly [ApiTarget, ...ApiTarget[]]>;

export function targetsOf(operation: ClusterOperation, found: FoundCluster): ApiTargets {
  if (!('member' in operation)) return clusterTargets(found);
  const { member } = operation;
  const target = found.members.find(({ name }) => name === member);
  return target === undefined
    ? { kind: 'unreadable', why: unknownMember(member, found) }
    : { kind: 'read', value: [target] };
}

/** The leader, then the API that answered last, then the other members. Each API once. */
export function clusterTargets(found: FoundCluster): ApiTargets {
  const all: readonly ApiTarget[] = found.kind === 'failed' ? found.members : inOrder(found);
  const [first, ...others] = all.filter(
    (one, i) => all.findIndex((other) => isSameAddress(other.api.address, one.api.address)) === i,
  );
  if (first !== undefined) return { kind: 'read', value: [first, ...others] };
  return { kind: 'unreadable', why: notFound(found) };
}

function inOrder({ members, document, from }: Extract<FoundCluster, { kind: 'found' }>): readonly ApiTarget[] {
  const leader = leaderOf(document);
  const answered = members.find(({ api }) => isSameAddress(api.address, from.address));
  return [...members.filter(({ name }) => name === leader), answered ?? { api: from, name: from.url }, ...members];
}

function notFound(found: FoundCluster): string {
  return `The cluster was not found: ${found.kind === 'failed' ? found.why : 'no API may be contacted'}.`;
}

function unknownMember(member: MemberName, found: FoundCluster): string {
  if (found.kind === 'failed') return notFound(found);
  const refusal = found.refused.find(({ name }) => name === member);
  if (refusal !== undefined) return `The API of ${member} may not be contacted: ${refusal.why}.`;
  const names = found.members.map(({ name }) => name);
  return `${unknownText('member', member, names)}.`;
}
