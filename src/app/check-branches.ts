// The branches of `pointsman check --live`: one read of their list, and what the configuration makes of it.
import type { BranchesReport } from '../cli/live-check.ts';
import type { BranchesPolicy, BranchListFailure } from '../model/branch.ts';
import { shown } from '../model/printable.ts';

/** These may pass without a change of the configuration. */
const PASSING: ReadonlySet<BranchListFailure> = new Set(['unreachable', 'timeout', 'server_error']);

/** Settles within the limits of the source's API. */
export async function checkBranches(policy: BranchesPolicy): Promise<BranchesReport> {
  const [{ readBranchList }, { listFailure }, { indexBranches }] = await Promise.all([
    import('../branches/list-branches.ts'),
    import('../branches/list-failure.ts'),
    import('../branches/resolve.ts'),
  ]);
  try {
    const index = indexBranches(await readBranchList(policy.source), policy);
    const found = index.branches.map(({ id }) => index.lookup(id, 'write'));
    return {
      kind: 'read',
      branches: found.length,
      routed: found.filter(({ kind }) => kind === 'found').length,
      unreachable: found.flatMap((lookup) =>
        lookup.kind === 'no_backend' ? [{ name: shown(lookup.branch.name), why: lookup.why }] : [],
      ),
    };
  } catch (error) {
    const { failure, why } = listFailure(error);
    return { kind: 'failed', why, mayPass: PASSING.has(failure) };
  }
}
