// Deletes a branch on a storage node, and then its name.
import type { Branch, StoragePolicy } from '../model/branch.ts';
import { ApiError } from '../http/request.ts';
import type { StorageClient } from '../branches/api/storage-client.ts';
import { attemptsFor, type PauseOptions } from './attempts.ts';
import { failed, type RemovalResult } from './branch-wish.ts';
import { isSameId, withNames, type TimelineNames } from './locked-names.ts';

/** For a creation that is under way. Milliseconds. */
const WAIT_FOR_LOCK_MS = 60_000;

/** The names file may be absent: timelines then have no names. Rejects with an ApiError. */
export async function deleteTimeline(
  branch: Branch,
  client: StorageClient,
  { tenant, namesFile }: Pick<StoragePolicy, 'tenant' | 'namesFile'>,
  pauses: PauseOptions,
): Promise<RemovalResult> {
  if (namesFile === undefined) return await remove(branch, client, pauses);
  const removed = await withNames({ tenant, namesFile }, attemptsFor(WAIT_FOR_LOCK_MS, pauses), (names) =>
    remove(branch, client, pauses, names),
  );
  return removed ?? failed(`another command changes ${namesFile}: try again`);
}

/** An accepted deletion may take a while. Milliseconds. */
const WAIT_FOR_END_MS = 60_000;

async function remove(
  { id }: Branch,
  client: StorageClient,
  pauses: PauseOptions,
  names?: TimelineNames,
): Promise<RemovalResult> {
  const named = names?.all() ?? [];
  const nameOf = (timeline: string): string => named.find((entry) => isSameId(entry.id, timeline))?.name ?? timeline;
  const children = new Set([
    ...(await client.timelines()).filter(({ parentId }) => isSameId(parentId, id)).map((child) => nameOf(child.id)),
    // Its timeline may be on its way.
    ...named.filter((entry) => entry.isPending && isSameId(entry.parentId, id)).map(({ name }) => name),
  ]);
  if (children.size > 0) return failed(`it has branches of its own: ${[...children].join(', ')}. Delete them first`);
  const isThere = async (): Promise<boolean> =>
    (await client.timelines()).some((timeline) => isSameId(timeline.id, id));
  try {
    const isAccepted = (await client.deleteTimeline(id)) === 'accepted';
    const problem = isAccepted ? await whyNotGone(isThere, pauses) : undefined;
    if (problem !== undefined) return failed(`the deletion is accepted, and ${problem}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The answer may be lost, or an earlier command has deleted it.
    if (await isThere()) return failed(error.message);
  }
  await names?.drop(id);
  return { kind: 'removed' };
}

/** Undefined when the timeline is listed no more. One list that cannot be read tells nothing. */
async function whyNotGone(isThere: () => Promise<boolean>, pauses: PauseOptions): Promise<string | undefined> {
  const attempts = attemptsFor(WAIT_FOR_END_MS, pauses);
  for (;;) {
    const problem = await isThere().then(
      (is) => (is ? 'the timeline is still listed' : undefined),
      (error: unknown) => {
        if (error instanceof ApiError) return `its end is unknown: ${error.message}`;
        throw error;
      },
    );
    if (problem === undefined || !(await attempts.again(''))) return problem;
  }
}
