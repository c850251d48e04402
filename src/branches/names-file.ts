// The names of a storage node's timelines, which have none of their own: a JSON file that `branches create` and
// `branches delete` write, and the directory reads. It holds intents as well: an entry is written before its timeline
// is created, so that a command that died goes on with the same timeline.
import type { Branch } from '../model/branch.ts';
import { parseJson } from '../model/json.ts';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ApiError } from '../http/request.ts';
import { errorCode, fileFault } from '../model/errno.ts';

export interface NamedTimeline extends Branch {
  readonly parentId: string;
  readonly parentLsn: string;
  readonly pgVersion: number;
  /** The storage node has not confirmed it yet: it may not exist, or not last. */
  readonly isPending: boolean;
}

const entry = z
  .object({
    name: z.string().min(1),
    id: z.string().min(1),
    ancestor: z.string().min(1),
    lsn: z.string().min(1),
    pg_version: z.int(),
    pending: z.boolean().default(false),
  })
  .transform(({ name, id, ancestor, lsn, pg_version, pending }): NamedTimeline => ({
    name,
    id,
    parentId: ancestor,
    parentLsn: lsn,
    pgVersion: pg_version,
    isPending: pending,
  }));

const document = z.object({ tenant: z.string(), timelines: z.array(entry) });

/**
 * The entries of the tenant; none while there is no file. Rejects with an ApiError: a file that cannot be
 * understood is never taken for an empty one.
 */
export async function readNames(file: string, tenant: string): Promise<readonly NamedTimeline[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw new ApiError('local', `${file} cannot be read: ${fileFault(error)}`);
  }
  const parsed = document.safeParse(parseJson(text));
  if (!parsed.success) throw new ApiError('local', `${file} is not a file of names of Pointsman, or is damaged`);
  if (parsed.data.tenant !== tenant) {
    throw new ApiError('local', `${file} has the names of another tenant: each tenant needs a file of its own`);
  }
  return parsed.data.timelines;
}
