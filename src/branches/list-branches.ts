// The list of branches, as its source has it now.
import type { Branch, BranchSourcePolicy } from '../model/branch.ts';
import { createConsoleClient } from './api/console-client.ts';
import { createStorageClient, type Timeline } from './api/storage-client.ts';
import { staticBranch } from './directory.ts';
import { readNames, type NamedTimeline } from './names-file.ts';

/** Keys, headers and names are read with it. Rejects with an ApiError, also when `signal` aborts. */
export async function readBranchList(source: BranchSourcePolicy, signal?: AbortSignal): Promise<readonly Branch[]> {
  switch (source.kind) {
    case 'console':
      return await createConsoleClient(source, { signal }).branches();
    case 'storage': {
      const { namesFile, tenant } = source;
      // The timelines first: the name of a timeline that is in the list has been written by then.
      const timelines = await createStorageClient(source, { signal }).timelines();
      return branchesOf(timelines, namesFile === undefined ? [] : await readNames(namesFile, tenant));
    }
    case 'static':
      return [...source.branches.keys()].map(staticBranch);
  }
}

/** A timeline that may not last is no branch yet, although storage nodes list it. */
export function branchesOf(timelines: readonly Timeline[], names: readonly NamedTimeline[]): readonly Branch[] {
  const named = new Map(names.map((entry) => [entry.id.toLowerCase(), entry]));
  return timelines.flatMap(({ id, ancestorId, ancestorLsn, lastRecordLsn }): readonly Branch[] => {
    const entry = named.get(id.toLowerCase());
    if (entry?.isPending === true) return [];
    const name = entry?.name ?? id;
    return [
      {
        id,
        name,
        parentId: ancestorId,
        parentLsn: ancestorId && ancestorLsn,
        lastRecordLsn,
        hasReadEndpoint: undefined,
      },
    ];
  });
}
