// Replaces the names file (branches/names-file.ts).
import { open, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../branches/names-file.ts';
import type { NamedTimeline } from '../branches/names-file.ts';
import { ApiError } from '../http/request.ts';

/**
 * Replaces the file: a reader, and a machine that loses power, has the old one or the new one. Only the holder of the
 * lock may call it.
 */
export async function writeNames(file: string, tenant: string, names: readonly NamedTimeline[]): Promise<void> {
  const timelines = names.map(({ name, id, ancestorId, lsn, pgVersion, isPending }) => ({
    name,
    id,
    ancestor: ancestorId,
    lsn,
    pg_version: pgVersion,
    ...(isPending ? { pending: true } : {}),
  }));
  try {
    const target = await realpath(file).catch(() => file);
    // The daemon reads it, often as another user.
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      () => 0o644,
    );
    const beside = await open(`${target}.tmp`, 'w', mode);
    try {
      await beside.writeFile(`${JSON.stringify({ tenant, timelines }, null, 2)}\n`);
      await beside.chmod(mode);
      await beside.sync();
    } finally {
      await beside.close();
    }
    await rename(`${target}.tmp`, target);
    const folder = await open(dirname(target), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    throw new ApiError('local', `${file} cannot be written (${codeOf(error)})`);
  }
}
