// The contact points to query for the cluster document, and their order. Pure.
import { isIP } from 'node:net';
import type { Instant } from '../model/instant.ts';
import { addressText, isSameAddress } from '../model/member.ts';
import type { Address, ApiEndpoint, Member, MemberName } from '../model/member.ts';
import { isSameApi, type ContactPoints } from './contact-points.ts';

export interface Candidate {
  readonly api: ApiEndpoint;
  readonly name: MemberName | undefined;
  /** A lower rank is queried earlier. */
  readonly rank: number;
}

/** Each known API once. `not`: a member to leave out, under all its names. */
export function candidates(
  points: ContactPoints,
  members: readonly Member[],
  not: MemberName | undefined,
): readonly Candidate[] {
  const excluded = members.find((member) => member.name === not)?.api;
  const all: readonly Candidate[] = [
    ...members.map(({ api, name }) => ({ api, name, rank: 0 })),
    ...points.seeds.map(({ api, rank }) => ({ api, name: undefined, rank })),
  ];
  const kept: Candidate[] = [];
  for (const one of all) {
    if (isIP(one.api.address.host) === 0) continue;
    if (excluded !== undefined && isSameApi(excluded, one.api)) continue;
    if (!kept.some((other) => isSameApi(other.api, one.api))) kept.push(one);
  }
  return kept;
}

export interface QueryHistory {
  /** The last contact point that answered. */
  readonly last: Address | undefined;
  /** When each API last failed to return a document, by keyOf. */
  readonly failedAt: ReadonlyMap<string, Instant>;
}

/** By address: one URL may have several addresses. */
export function keyOf({ api }: Candidate): string {
  return addressText(api.address);
}

/**
 * First the contact point that answered last, then the others by rank. Contact points that failed come after those, the
 * oldest failure first. Equals are rotated by `start` (0 to 1): a thousand proxies with one list must not all query its
 * first entry.
 */
export function inOrder(
  candidates: readonly Candidate[],
  { last, failedAt }: QueryHistory,
  start: number,
): readonly Candidate[] {
  const from = Math.floor(start * candidates.length);
  const failed = (one: Candidate): Instant => failedAt.get(keyOf(one)) ?? -Infinity;
  const notLast = ({ api }: Candidate): number => (isSameAddress(api.address, last) ? 0 : 1);
  return [...candidates.slice(from), ...candidates.slice(0, from)].toSorted(
    (a, b) => Math.sign(failed(a) - failed(b)) || notLast(a) - notLast(b) || a.rank - b.rank,
  );
}
