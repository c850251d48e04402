// The branches of a source in the hands of a person or a job: list, create, delete. The running proxy only lists.
import type { Branch, BranchSourcePolicy } from '../model/branch.ts';
import { createConsoleClient } from '../branches/api/console-client.ts';
import { ApiError } from '../http/request.ts';
import { createStorageClient } from '../branches/api/storage-client.ts';
import { createBranch } from './create-branch.ts';
import { attemptsUntil, type PauseOptions } from './attempts.ts';
import { createTimeline, isPassing } from './create-timeline.ts';
import type { BranchWish, CreationResult, RemovalResult } from './branch-wish.ts';
import { deleteTimeline } from './delete-timeline.ts';
import { readBranchList } from '../branches/list-branches.ts';

/** Each reason is one clause without a secret. */
export interface BranchControl {
  /** Once, or until the time is over while the source may answer later. */
  list(wait?: ListWait): Promise<BranchReading>;
  create(wish: BranchWish): Promise<CreationResult>;
  /** Refuses a branch that has branches. The caller has checked the rest. */
  remove(branch: Branch): Promise<RemovalResult>;
}

export type ListWait = Pick<BranchWish, 'waitMs' | 'onRetry'>;

export type BranchReading =
  | { readonly kind: 'read'; readonly branches: readonly Branch[] }
  | { readonly kind: 'failed'; readonly why: string };

export function createBranchControl(source: BranchSourcePolicy, pauses: PauseOptions): BranchControl {
  return {
    async list({ waitMs, onRetry = () => {} } = { waitMs: 0 }) {
      const attempts = attemptsUntil(pauses.clock.now() + waitMs, { ...pauses, onRetry });
      for (;;) {
        try {
          return { kind: 'read', branches: await readBranchList(source) };
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          const isOver = !isPassing(error) || !(await attempts.again(error.message));
          if (isOver) return { kind: 'failed', why: error.message };
        }
      }
    },
    create: createFor(source, pauses),
    async remove(branch) {
      if (source.kind === 'storage')
        return await deleteTimeline(branch, { ...source, client: createStorageClient(source) }, pauses);
      return { kind: 'failed', why: `the source ${source.kind} has no way to delete a branch` };
    },
  };
}

function createFor(source: BranchSourcePolicy, pauses: PauseOptions): BranchControl['create'] {
  switch (source.kind) {
    case 'static':
      return () => refuse('the branches are in the configuration: add it to branches.static');
    case 'console': {
      const client = createConsoleClient(source);
      return (wish) =>
        wish.lsn === undefined
          ? createBranch(wish, client, pauses)
          : refuse('the API of a console has no way to begin at a position');
    }
    case 'storage': {
      const { namesFile, pgVersion } = source;
      if (namesFile === undefined) return () => refuse('branches.storage.names_file is not set: it keeps the name');
      if (pgVersion === undefined) return () => refuse('branches.storage.pg_version is not set');
      const storage = { ...source, namesFile, pgVersion, client: createStorageClient(source) };
      return (wish) =>
        wish.schemaOnly === true || (wish.endpoints ?? []).length > 0
          ? refuse('a storage node has no endpoints, and copies rows as well')
          : createTimeline(wish, storage, pauses);
    }
  }
}

function refuse(why: string): Promise<CreationResult> {
  return Promise.resolve({ kind: 'refused', why });
}
