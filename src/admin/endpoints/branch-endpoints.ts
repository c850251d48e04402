// The branches one by one. Read-only: `pointsman branches` creates and deletes them.
import { failure } from '../answer.ts';
import { get, type Endpoint } from '../endpoint.ts';
import { longJson } from '../long-answer.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { BranchesListing } from '../branch-documents.ts';

export interface BranchEndpointOptions {
  /** Undefined: none are configured. */
  readonly branches: () => Promise<BranchesListing | undefined>;
}

export function branches(options: BranchEndpointOptions): readonly Endpoint[] {
  const answer = oneAtATime(async () => {
    const listing = await options.branches();
    if (listing === undefined)
      return failure(404, 'there are no branches: the configuration has no section `branches`');
    const { branches: list, ...document } = listing;
    return longJson(document, 'branches', list);
  });
  return [get({ path: '/branches', answer })];
}
