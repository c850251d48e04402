// Whom to ask for the cluster document, and in which order. Pure.
import { isIP } from 'node:net';
import type { Instant } from '../core/instant.ts';
import type { ApiEndpoint, Member, MemberName } from '../core/member.ts';
import { isSameApi } from './contact-points.ts';
import type { ContactPoints } from './contact-points.ts';

export interface Candidate {
  readonly api: ApiEndpoint;
  readonly name: MemberName | undefined;
}

/** Each known API once. `not`: the member that is not to be asked, under any name. */
export function candidates(
  points: ContactPoints,
  members: readonly Member[],
  not: MemberName | undefined,
): readonly Candidate[] {
  const excluded = members.find((member) => member.name === not)?.api;
  const all: readonly Candidate[] = [
    ...members.map(({ api, name }) => ({ api, name })),
    ...points.seeds.map((api) => ({ api, name: undefined })),
  ];
  const kept: Candidate[] = [];
  for (const one of all) {
    if (isIP(one.api.address.host) === 0) continue;
    if (excluded !== undefined && isSameApi(excluded, one.api)) continue;
    if (!kept.some((other) => isSameApi(other.api, one.api))) kept.push(one);
  }
  return kept;
}

/** Who answered last, then those that have not failed, then those whose failure is longest ago. */
export function inOrder(
  candidates: readonly Candidate[],
  lastUrl: string | undefined,
  failedAt: ReadonlyMap<string, Instant>,
): readonly Candidate[] {
  const failed = ({ api }: Candidate): Instant => failedAt.get(api.url) ?? -Infinity;
  const last = ({ api }: Candidate): number => (api.url === lastUrl ? 0 : 1);
  return candidates.toSorted((a, b) => Math.sign(failed(a) - failed(b)) || last(a) - last(b));
}
