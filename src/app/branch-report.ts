// The list of branches for an operator, made of the directory in use.
import type { BranchIndex, ListLookup } from '../branches/resolve.ts';
import type { Branch, BranchAccess, BranchListStatus } from '../model/branch.ts';
import type { BranchReport, ListedBranch } from '../reports/listed-branches.ts';

/** The part of the directory in use that an operator sees. */
export interface DirectoryView {
  readonly index: () => Pick<BranchIndex, 'branches' | 'lookup'> | undefined;
  readonly status: () => BranchListStatus;
}

export function branchReport(directory: DirectoryView): BranchReport {
  const index = directory.index();
  const lookUp = (branch: Branch, access: BranchAccess): ListLookup =>
    index?.lookup(branch.id, access) ?? { kind: 'unknown' };
  return {
    status: directory.status(),
    branches: index?.branches ?? [],
    listed: (branch) => {
      const [found, read] = [lookUp(branch, 'write'), lookUp(branch, 'read')];
      return { branch, backend: backendOf(found), readBackend: backendOf(read), why: whyNot(found) };
    },
  };
}

function backendOf(lookup: ListLookup): ListedBranch['backend'] {
  return lookup.kind === 'found' ? lookup.backend : undefined;
}

function whyNot(lookup: ListLookup): string | undefined {
  switch (lookup.kind) {
    case 'found':
      return undefined;
    case 'not_allowed':
      return lookup.why === 'root' ? 'it is a root (production)' : 'branches.allow excludes its name';
    case 'no_backend':
      return lookup.why;
    case 'ambiguous':
      return `several branches have this id: ${lookup.ids.join(', ')}`;
    case 'unknown':
      return 'it left the list a moment ago';
  }
}
