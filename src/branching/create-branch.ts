// Creates a branch of a console, at most once. The contract does not say that the request can be repeated, nor that
// names are unique, and two branches of one name are of no use to anybody. So a request is sent again only if the
// console says that it has not taken it; else the list alone decides. The body of a success is not read: it may hold
// passwords.
import type { Branch } from '../model/branch.ts';
import { shown } from '../model/printable.ts';
import type { ConsoleClient } from '../branches/api/console-client.ts';
import { ApiError } from '../http/request.ts';
import { untilRead, type Attempts } from './attempts.ts';
import { refused, type BranchWish, type CreationResult } from './branch-wish.ts';

/** Lists without the branch before its request is sent once more: a console may show a branch late. */
const LISTS_BEFORE_REPEATING = 3;

/** Rejects with an ApiError. */
export async function createBranch(
  wish: BranchWish,
  client: ConsoleClient,
  attempts: Attempts,
): Promise<CreationResult> {
  const { name, parent, schemaOnly, endpoints } = wish;
  const find = async (): Promise<readonly Branch[]> =>
    (await client.branches()).filter((branch) => branch.name === name);
  const existing = await untilRead(attempts, find);
  if (existing.length > 0) return found(existing, wish, false);
  for (;;) {
    const answer = await client.createBranch({ name, parentId: parent?.id, isSchemaOnly: schemaOnly, endpoints });
    if (answer.kind === 'refused') return { kind: 'failed', why: answer.why };
    attempts.restart();
    const why = answer.kind === 'accepted' ? 'the console has accepted it and does not list it yet' : answer.why;
    // A list that cannot be read does not count: a second request could make a second branch.
    let listsLeft = answer.kind === 'later' ? LISTS_BEFORE_REPEATING : Infinity;
    while (listsLeft > 0) {
      const seen = await find().catch(unlessOurs);
      if (seen !== undefined && seen.length > 0) return found(seen, wish, true);
      if (seen !== undefined) listsLeft -= 1;
      if (!(await attempts.again(why))) return { kind: 'unfinished', why };
    }
  }
}

/** Undefined: the list cannot be read now. */
function unlessOurs(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

function found(branches: readonly Branch[], { parent }: BranchWish, isNew: boolean): CreationResult {
  const [branch] = branches;
  if (branch === undefined || branches.length > 1) {
    const ids = branches.map(({ id }) => shown(id)).join(', ');
    return refused(`several branches have this name: ${ids}. Delete all but one`);
  }
  if (parent !== undefined && branch.parentId !== undefined && branch.parentId !== parent.id)
    return refused(`a branch of this name exists, with the parent ${shown(branch.parentId)}`);
  return { kind: 'created', branch, isNew };
}
