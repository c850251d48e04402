// Queries contact points for the cluster document, one after another, until one returns it, with a limit on number and
// time. Remembers the last success and each failure, so that a call does not start with a dead seed.
import type { Clock, Instant } from '../model/instant.ts';
import type { Address, ApiEndpoint } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import type { ClusterDocument } from '../patroni/cluster-document.ts';
import type { ClusterRead } from '../patroni/read-documents.ts';
import { inOrder, keyOf, type Candidate } from './contact-order.ts';
import type { SeedRefusal } from './seeds.ts';

export interface ClusterAnswer {
  readonly kind: 'answer';
  readonly from: Candidate;
  readonly cluster: ClusterDocument;
  readonly date?: number | undefined;
  readonly startedAt: Instant;
}

export interface QueryLimits {
  /** For one document, milliseconds. */
  readonly readMs: number;
  /** For all documents of one call, milliseconds. */
  readonly totalMs: number;
  /** Contact points queried in one call. */
  readonly attempts: number;
}

export interface QueryOptions {
  readonly readCluster: (api: ApiEndpoint, deadlineMs: number) => Promise<ClusterRead>;
  readonly clock: Clock;
  readonly limits: QueryLimits;
  /** From 0 to 1: the start position among contact points of equal rank. */
  readonly random: () => number;
  /** Documents of another scope are ignored. Absent: the first document sets the scope. */
  readonly scope: string | undefined;
}

export type ContactPointQuery = (
  candidates: readonly Candidate[],
) => Promise<ClusterAnswer | { readonly kind: 'none'; readonly problems: readonly SeedRefusal[] }>;

export function createContactPointQuery(options: QueryOptions): ContactPointQuery {
  const { readCluster, clock, limits, random } = options;
  const failedAt = new Map<string, Instant>();
  let last: Address | undefined;
  let { scope } = options;

  /** One contact point's document, or the problem. */
  async function query(from: Candidate, deadlineMs: number): Promise<ClusterAnswer | string> {
    const startedAt = clock.now();
    const read = await readCluster(from.api, deadlineMs);
    switch (read.kind) {
      case 'cluster': {
        const other = read.cluster.scope;
        return scope !== undefined && other !== undefined && other !== scope
          ? `answers for scope ${shown(other)} and not ${shown(scope)}`
          : { kind: 'answer', from, cluster: read.cluster, date: read.date, startedAt };
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
    const problems: SeedRefusal[] = [];
    for (const from of inOrder(candidates, { last, failedAt }, random()).slice(0, limits.attempts)) {
      const leftMs = endsAt - clock.now();
      if (leftMs <= 0) break;
      const answer = await query(from, Math.min(limits.readMs, leftMs));
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

/** The URL, with the address where the URL has a name. */
function nameOf({ url, address }: ApiEndpoint): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') === address.host ? url : `${url} at ${address.host}`;
}
