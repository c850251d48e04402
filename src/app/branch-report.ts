// The list of branches for an operator, made of the directory in use.
import type { Branch, BranchListStatus, BranchLookup, LocateBranch } from '../model/branch.ts';
import type { BranchReport, ListedBranch } from '../reports/branches.ts';

/** The part of the directory in use that an operator sees. */
export interface BranchDirectory {
  readonly list: () => readonly Branch[];
  readonly status: () => BranchListStatus;
  readonly locate: LocateBranch;
}

export async function branchReport(directory: BranchDirectory): Promise<BranchReport> {
  const status = directory.status();
  return { status, branches: await Promise.all(directory.list().map((branch) => listed(branch, directory))) };
}

/** An id is never looked up anew, because the list has it. */
async function listed(branch: Branch, { locate }: BranchDirectory): Promise<ListedBranch> {
  const [found, read] = [await locate(branch.id, 'write'), await locate(branch.id, 'read')];
  return { branch, backend: backendOf(found), readBackend: backendOf(read), why: whyNot(found) };
}

function backendOf(lookup: BranchLookup): ListedBranch['backend'] {
  return lookup.kind === 'found' ? lookup.backend : undefined;
}

function whyNot(lookup: BranchLookup): string | undefined {
  switch (lookup.kind) {
    case 'found':
      return undefined;
    case 'not_allowed':
      return lookup.why === 'root' ? 'it is a root (production)' : 'branches.allow excludes its name';
    case 'no_backend':
    case 'unavailable':
      return lookup.why;
    case 'ambiguous':
      return `several branches have this id: ${lookup.ids.join(', ')}`;
    case 'unknown':
      return 'it left the list a moment ago';
  }
}
