// The list of branches, as its source has it now.
import { ApiError } from '../http/request.ts';
import type { Branch, BranchListFailure, BranchSourcePolicy } from '../model/branch.ts';
import { createConsoleClient } from './api/console-client.ts';
import { createStorageClient, type Timeline } from './api/storage-client.ts';
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
      return staticBranches(source);
  }
}

export function staticBranches({ branches }: BranchSourcePolicy & { kind: 'static' }): readonly Branch[] {
  return [...branches.keys()].map((name) => ({ id: name, name }));
}

/** The kind of a failed read, for events and metrics. `why`: one clause without a secret. */
export function listFailure(error: unknown): { readonly failure: BranchListFailure; readonly why: string } {
  const why = error instanceof Error ? error.message : 'the list cannot be read';
  return { failure: error instanceof ApiError ? error.failure : 'local', why };
}

/** A timeline that may not last is no branch yet, although storage nodes list it. */
function branchesOf(timelines: readonly Timeline[], names: readonly NamedTimeline[]): readonly Branch[] {
  const named = new Map(names.map((entry) => [entry.id.toLowerCase(), entry]));
  return timelines.flatMap((timeline) => {
    const entry = named.get(timeline.id.toLowerCase());
    return entry?.isPending === true ? [] : [{ ...timeline, name: entry?.name ?? timeline.id }];
  });
}
