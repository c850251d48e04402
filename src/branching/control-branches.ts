// The branches of a source in the hands of a person or a job: list, create, delete. The running proxy only lists.
import type { Branch, BranchSourcePolicy } from '../model/branch.ts';
import { createConsoleClient } from '../branches/api/console-client.ts';
import { ApiError } from '../http/request.ts';
import { createStorageClient } from '../branches/api/storage-client.ts';
import { createBranch } from './create-branch.ts';
import { attemptsFor, untilRead, type Attempts, type PauseOptions } from './attempts.ts';
import { createTimeline } from './create-timeline.ts';
import {
  failed,
  refused,
  type BranchWish,
  type CreationResult,
  type BranchFailure,
  type RemovalResult,
} from './branch-wish.ts';
import { deleteTimeline } from './delete-timeline.ts';
import { readBranchList } from '../branches/list-branches.ts';

/** Each reason is one clause without a secret. No method rejects for a fault of the API or of the names file. */
export interface BranchControl {
  /** Once, or until the time is over while the source may answer later. */
  list(wait?: ListWait): Promise<BranchReading>;
  /** The last request may end a second after the deadline. */
  create(wish: BranchWish): Promise<CreationResult>;
  /** Refuses a branch that has branches. The caller has checked the rest. */
  remove(branch: Branch): Promise<RemovalResult>;
}

export type ListWait = Pick<BranchWish, 'waitMs' | 'onRetry'>;

export type BranchReading = { readonly kind: 'read'; readonly branches: readonly Branch[] } | BranchFailure;

export function createBranchControl(source: BranchSourcePolicy, pauses: PauseOptions): BranchControl {
  return {
    list: ({ waitMs, onRetry } = { waitMs: 0 }) =>
      orFailed(async () => {
        const attempts = attemptsFor(waitMs, pauses, onRetry);
        return { kind: 'read', branches: await untilRead(attempts, () => readBranchList(source)) };
      }),
    create: (wish) => orFailed(() => create(wish, source, attemptsFor(wish.waitMs, pauses, wish.onRetry))),
    remove: (branch) =>
      orFailed(async () =>
        source.kind === 'storage'
          ? await deleteTimeline(branch, createStorageClient(source), source, pauses)
          : failed(`the source ${source.kind} has no way to delete a branch`),
      ),
  };
}

async function orFailed<Result>(work: () => Promise<Result>): Promise<Result | BranchFailure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return failed(error.message);
    throw error;
  }
}

async function create(wish: BranchWish, source: BranchSourcePolicy, attempts: Attempts): Promise<CreationResult> {
  switch (source.kind) {
    case 'static':
      return refused('the branches are in the configuration: add it to branches.static');
    case 'console':
      return wish.lsn === undefined
        ? await createBranch(wish, createConsoleClient(source), attempts)
        : refused('the API of a console has no way to begin at a position');
    case 'storage': {
      const { namesFile, pgVersion } = source;
      if (namesFile === undefined) return refused('branches.storage.names_file is not set: it keeps the name');
      if (pgVersion === undefined) return refused('branches.storage.pg_version is not set');
      if (wish.schemaOnly === true || (wish.endpoints ?? []).length > 0)
        return refused('a storage node has no endpoints, and copies rows as well');
      return await createTimeline(wish, createStorageClient(source), { ...source, namesFile, pgVersion }, attempts);
    }
  }
}
