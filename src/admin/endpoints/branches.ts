// The branches one by one. Read-only: `pointsman branches` creates and deletes them.
import { failure, json } from '../answer.ts';
import { get } from '../endpoint.ts';
import type { Endpoint } from '../endpoint.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import type { BranchesDocument } from '../schema/branches.ts';

export interface BranchesOptions {
  /** Undefined: none are configured. */
  readonly branches: () => Promise<BranchesDocument | undefined>;
}

export function branches(options: BranchesOptions): readonly Endpoint[] {
  const answer = oneAtATime(async () => {
    const document = await options.branches();
    if (document !== undefined) return json(200, document);
    return failure(404, 'there are no branches: the configuration has no section `branches`');
  });
  return [get({ path: '/branches', answer })];
}
