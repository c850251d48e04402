// Creates a branch of a console, at most once. The contract does not say that the request can be repeated, nor that
// names are unique, and two branches of one name are of no use to anybody. So a request is sent again only if the
// console says that it has not taken it; else the list alone decides. The body of a success is not read: it may hold
// passwords.
import type { Branch } from '../model/branch.ts';
import { shown } from '../model/printable.ts';
import type { ConsoleClient } from '../branches/api/console-client.ts';
import { ApiError } from '../http/request.ts';
import { attemptsUntil, type Attempts, type PauseOptions } from './attempts.ts';
import { isPassing } from './create-timeline.ts';
import type { BranchWish, CreationResult } from './branch-wish.ts';

/** Lists without the branch before its request is sent once more: a console may show a branch late. */
const LISTS_BEFORE_REPEATING = 3;

/** Never rejects for a fault of the API. The last request may end after the deadline. */
export async function createBranch(
  wish: BranchWish,
  client: ConsoleClient,
  pauses: PauseOptions,
): Promise<CreationResult> {
  const { onRetry = () => {}, waitMs } = wish;
  const attempts = attemptsUntil(pauses.clock.now() + waitMs, { ...pauses, onRetry });
  try {
    const existing = await find(wish, client, attempts);
    if (existing.length > 0) return found(existing, wish, false);
    return await create(wish, client, attempts);
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', why: error.message };
    throw error;
  }
}

async function create(wish: BranchWish, client: ConsoleClient, attempts: Attempts): Promise<CreationResult> {
  const { name, parent, schemaOnly, endpoints } = wish;
  for (;;) {
    const answer = await client.createBranch({ name, parentId: parent?.id, isSchemaOnly: schemaOnly, endpoints });
    if (answer.kind === 'refused') return { kind: 'failed', why: answer.why };
    attempts.restart();
    const why = answer.kind === 'accepted' ? 'the console has accepted it and does not list it yet' : answer.why;
    // A list that cannot be read does not count: a second request could make a second branch.
    let listsLeft = answer.kind === 'later' ? LISTS_BEFORE_REPEATING : Infinity;
    while (listsLeft > 0) {
      const seen = await look(wish, client);
      if (seen !== undefined && seen.length > 0) return found(seen, wish, true);
      if (seen !== undefined) listsLeft -= 1;
      if (!(await attempts.again(why))) return { kind: 'unfinished', why };
    }
  }
}

async function find(wish: BranchWish, client: ConsoleClient, attempts: Attempts): Promise<readonly Branch[]> {
  for (;;) {
    try {
      return (await client.branches()).filter(({ name }) => name === wish.name);
    } catch (error) {
      if (!(error instanceof ApiError) || !isPassing(error)) throw error;
      if (!(await attempts.again(error.message))) throw error;
    }
  }
}

/** Undefined: the list cannot be read now. */
async function look(wish: BranchWish, client: ConsoleClient): Promise<readonly Branch[] | undefined> {
  try {
    return (await client.branches()).filter(({ name }) => name === wish.name);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function found(branches: readonly Branch[], { parent }: BranchWish, isNew: boolean): CreationResult {
  const [branch] = branches;
  if (branch === undefined || branches.length > 1) {
    const ids = branches.map(({ id }) => shown(id)).join(', ');
    return { kind: 'refused', why: `several branches have this name: ${ids}. Delete all but one` };
  }
  if (parent !== undefined && branch.parentId !== undefined && branch.parentId !== parent.id) {
    return { kind: 'refused', why: `a branch of this name exists, with the parent ${shown(branch.parentId)}` };
  }
  return { kind: 'created', branch, isNew };
}
