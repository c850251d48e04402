// Asks contact points for the cluster document, one after another, until one gives it: bounded in number and in time. Remembers
// who gave the last one and who failed when, so that a dead seed is not what every call starts with.
import type { Clock, Instant } from '../core/instant.ts';
import type { ApiEndpoint } from '../core/member.ts';
import type { ClusterDocument } from '../patroni/cluster-document.ts';
import type { ClusterRead } from '../patroni/read-documents.ts';
import { inOrder } from './candidates.ts';
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
  /** Documents of another scope are ignored. Absent: the first document's scope counts from then on. */
  readonly scope: string | undefined;
}

export type AskAround = (
  candidates: readonly Candidate[],
) => Promise<Answer | { readonly kind: 'none'; readonly problems: readonly Refusal[] }>;

export function createAskAround(options: AskOptions): AskAround {
  const { readCluster, clock, limits } = options;
  /** When each API last failed to give a document, by URL. */
  const failedAt = new Map<string, Instant>();
  let lastUrl: string | undefined;
  let { scope } = options;

  /** One contact point's document, or why it is none. */
  async function ask(from: Candidate, deadlineMs: number): Promise<Answer | string> {
    const startedAt = clock.now();
    const read = await readCluster(from.api, deadlineMs);
    switch (read.kind) {
      case 'cluster': {
        const other = read.cluster.scope;
        const isOther = scope !== undefined && other !== undefined && other !== scope;
        return isOther
          ? `answers for scope ${other} and not ${scope}`
          : { kind: 'answer', from, cluster: read.cluster, startedAt };
      }
      case 'refused':
        return 'connection refused';
      case 'failed':
        return read.detail;
    }
  }

  function forgetAllBut(candidates: readonly Candidate[]): void {
    const urls = new Set(candidates.map(({ api }) => api.url));
    for (const url of failedAt.keys()) if (!urls.has(url)) failedAt.delete(url);
  }

  return async (candidates) => {
    forgetAllBut(candidates);
    const endsAt = clock.now() + limits.totalMs;
    const problems: Refusal[] = [];
    for (const from of inOrder(candidates, lastUrl, failedAt).slice(0, limits.attempts)) {
      const leftMs = endsAt - clock.now();
      if (leftMs <= 0) break;
      const answer = await ask(from, Math.min(limits.readMs, leftMs));
      if (typeof answer !== 'string') {
        lastUrl = from.api.url;
        failedAt.delete(lastUrl);
        scope ??= answer.cluster.scope;
        return answer;
      }
      failedAt.set(from.api.url, clock.now());
      problems.push({ name: from.name ?? from.api.url, why: answer });
    }
    return { kind: 'none', problems };
  };
}
