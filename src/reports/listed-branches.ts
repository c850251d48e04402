// The list of branches for an operator: each with its backend, or with the reason that it has none.
import type { Branch, BranchBackend, BranchListStatus } from '../model/branch.ts';

export interface ListedBranch {
  readonly branch: Branch;
  /** For a listener of an exclusive pool. Undefined: clients that ask for the branch are refused. */
  readonly backend: BranchBackend | undefined;
  /** For any other listener. */
  readonly readBackend: BranchBackend | undefined;
  /** Why it has no backend: a sentence for the operator. */
  readonly why: string | undefined;
}

export interface BranchReport {
  readonly status: BranchListStatus;
  readonly branches: readonly Branch[];
  /** `branch`: one of them. */
  readonly listed: (branch: Branch) => ListedBranch;
}
