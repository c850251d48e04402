// Deletes a branch on a storage node, and then its name.
import type { Branch } from '../model/branch.ts';
import { ApiError } from '../http/request.ts';
import type { StorageClient } from '../branches/api/storage-client.ts';
import { attemptsUntil, type PauseOptions } from './attempts.ts';
import type { StorageSource } from './create-timeline.ts';
import type { RemovalResult } from './branch-wish.ts';
import { isSameId, withNames, type TimelineNames } from './locked-names.ts';

/** For a creation that is under way. Milliseconds. */
const WAIT_FOR_LOCK_MS = 60_000;

/** The names file may be absent: timelines then have no names. Never rejects for a fault of the API or of that file. */
export async function deleteTimeline(
  branch: Branch,
  source: Omit<StorageSource, 'namesFile' | 'pgVersion'> & { readonly namesFile: string | undefined },
  pauses: PauseOptions,
): Promise<RemovalResult> {
  const { client, tenant, namesFile } = source;
  try {
    if (namesFile === undefined) return await remove(branch, { client, pauses });
    const attempts = attemptsUntil(pauses.clock.now() + WAIT_FOR_LOCK_MS, { ...pauses, onRetry: () => {} });
    const removed = await withNames({ tenant, namesFile }, attempts, (names) =>
      remove(branch, { client, pauses, names }),
    );
    return removed ?? failed(`another command changes ${namesFile}: try again`);
  } catch (error) {
    if (error instanceof ApiError) return failed(error.message);
    throw error;
  }
}

interface DeletionTask {
  readonly client: StorageClient;
  readonly pauses: PauseOptions;
  readonly names?: TimelineNames;
}

/** An accepted deletion may take a while. Milliseconds. */
const WAIT_FOR_END_MS = 60_000;

async function remove({ id }: Branch, { client, pauses, names }: DeletionTask): Promise<RemovalResult> {
  const named = names?.all() ?? [];
  const nameOf = (timeline: string): string => named.find((entry) => isSameId(entry.id, timeline))?.name ?? timeline;
  const children = new Set([
    ...(await client.timelines()).filter(({ ancestorId }) => isSameId(ancestorId, id)).map((child) => nameOf(child.id)),
    // Its timeline may be on its way.
    ...named.filter((entry) => entry.isPending && isSameId(entry.ancestorId, id)).map(({ name }) => name),
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
  const attempts = attemptsUntil(pauses.clock.now() + WAIT_FOR_END_MS, { ...pauses, onRetry: () => {} });
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

function failed(why: string): RemovalResult {
  return { kind: 'failed', why };
}
