// Asks contact points for the cluster document, one after another, until one gives it: bounded in number and in time. Remembers
// who gave the last one and who failed when, so that a dead seed is not what every call starts with.
import type { Clock, Instant } from '../model/instant.ts';
import type { Address, ApiEndpoint } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import type { ClusterDocument } from '../patroni/cluster-document.ts';
import type { ClusterRead } from '../patroni/read-documents.ts';
import { inOrder, keyOf } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import type { Refusal } from './contact-points.ts';

export interface Answer {
  readonly kind: 'answer';
  readonly from: Candidate;
  readonly cluster: ClusterDocument;
  readonly startedAt: Instant;
}

export interface AskLimits {
  /** For one document, milliseconds. */
  readonly readMs: number;
  /** For all documents of one call, milliseconds. */
  readonly totalMs: number;
  /** Contact points asked in one call. */
  readonly attempts: number;
}

export interface AskOptions {
  readonly readCluster: (api: ApiEndpoint, deadlineMs: number) => Promise<ClusterRead>;
  readonly clock: Clock;
  readonly limits: AskLimits;
  /** From 0 to 1: with whom of equals it begins. */
  readonly random: () => number;
  /** Documents of another scope are ignored. Absent: the first document's scope counts from then on. */
  readonly scope: string | undefined;
}

export type AskAround = (
  candidates: readonly Candidate[],
) => Promise<Answer | { readonly kind: 'none'; readonly problems: readonly Refusal[] }>;

export function createAskAround(options: AskOptions): AskAround {
  const { readCluster, clock, limits, random } = options;
  const failedAt = new Map<string, Instant>();
  let last: Address | undefined;
  let { scope } = options;

  /** One contact point's document, or why it is none. */
  async function ask(from: Candidate, deadlineMs: number): Promise<Answer | string> {
    const startedAt = clock.now();
    const read = await readCluster(from.api, deadlineMs);
    switch (read.kind) {
      case 'cluster': {
        const other = read.cluster.scope;
        return scope !== undefined && other !== undefined && other !== scope
          ? `answers for scope ${shown(other)} and not ${shown(scope)}`
          : { kind: 'answer', from, cluster: read.cluster, startedAt };
      }
      case 'refused':
        return 'connection refused';
      case 'failed':
        return read.detail;
    }
  }

  function forgetAllBut(candidates: readonly Candidate[]): void {
    const known = new Set(candidates.map(keyOf));
    for (const key of failedAt.keys()) if (!known.has(key)) failedAt.delete(key);
  }

  return async (candidates) => {
    forgetAllBut(candidates);
    const endsAt = clock.now() + limits.totalMs;
    const problems: Refusal[] = [];
    for (const from of inOrder(candidates, { last, failedAt }, random()).slice(0, limits.attempts)) {
      const leftMs = endsAt - clock.now();
      if (leftMs <= 0) break;
      const answer = await ask(from, Math.min(limits.readMs, leftMs));
      if (typeof answer !== 'string') {
        last = from.api.address;
        failedAt.delete(keyOf(from));
        scope ??= answer.cluster.scope;
        return answer;
      }
      failedAt.set(keyOf(from), clock.now());
      problems.push({ name: from.name ?? nameOf(from.api), why: answer });
    }
    return { kind: 'none', problems };
  };
}

/** The URL, and the address where the URL's name has it. */
function nameOf({ url, address }: ApiEndpoint): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') === address.host ? url : `${url} at ${address.host}`;
}
