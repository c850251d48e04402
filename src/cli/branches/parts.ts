// The parts that app/ gives these commands.
import type { BranchControl } from '../../branches/control-branches.ts';
import type { BranchSourcePolicy } from '../../model/branch.ts';

export interface BranchParts {
  /** Over the source's own API. */
  readonly openSource: (source: BranchSourcePolicy) => Promise<BranchControl>;
}
