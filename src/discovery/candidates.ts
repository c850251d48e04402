// Whom to ask for the cluster document, and in which order. Pure.
import { isIP } from 'node:net';
import type { Instant } from '../model/instant.ts';
import { addressText, isSameAddress } from '../model/member.ts';
import type { Address, ApiEndpoint, Member, MemberName } from '../model/member.ts';
import { isSameApi } from './contact-points.ts';
import type { ContactPoints } from './contact-points.ts';

export interface Candidate {
  readonly api: ApiEndpoint;
  readonly name: MemberName | undefined;
  /** The lower the earlier it is asked. */
  readonly rank: number;
}

/** Each known API once. `not`: the member that is not to be asked, under any name. */
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

export interface Memory {
  /** Who answered last. */
  readonly last: Address | undefined;
  /** When each API last failed to give a document, by keyOf. */
  readonly failedAt: ReadonlyMap<string, Instant>;
}

/** One URL may stand for several. */
export function keyOf({ api }: Candidate): string {
  return addressText(api.address);
}

/**
 * Who answered last, then those that have not failed, by rank, then those whose failure is longest ago. Among equals the list begins
 * somewhere (`start`, from 0 to 1): a thousand proxies with one list would all ask the first.
 */
export function inOrder(
  candidates: readonly Candidate[],
  { last, failedAt }: Memory,
  start: number,
): readonly Candidate[] {
  const from = Math.floor(start * candidates.length);
  const failed = (one: Candidate): Instant => failedAt.get(keyOf(one)) ?? -Infinity;
  const notLast = ({ api }: Candidate): number => (isSameAddress(api.address, last) ? 0 : 1);
  return [...candidates.slice(from), ...candidates.slice(0, from)].toSorted(
    (a, b) => Math.sign(failed(a) - failed(b)) || notLast(a) - notLast(b) || a.rank - b.rank,
  );
}
