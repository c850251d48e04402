// The names file in the hands of the one process that holds its lock.
import { fileFault } from '../model/errno.ts';
import { readNames, type NamedTimeline } from '../branches/names-file.ts';
import type { Attempts } from './attempts.ts';
import { open, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiError } from '../http/request.ts';
import type { DatabaseSync } from 'node:sqlite';

export interface TimelineNames {
  /** Unfinished ones too. */
  all(): readonly NamedTimeline[];
  /** Replaces the entry of that name. Resolves when it is on the disk. */
  save(entry: NamedTimeline): Promise<void>;
  /** By the timeline's id. */
  drop(id: string): Promise<void>;
}

/**
 * Runs `work` while this process alone may change the file. Undefined: another process had the lock until the deadline.
 * Rejects with an ApiError when the file cannot be used.
 */
export async function withNames<T>(
  { namesFile, tenant }: { readonly namesFile: string; readonly tenant: string },
  attempts: Attempts,
  work: (names: TimelineNames) => Promise<T>,
): Promise<T | undefined> {
  let unlock = await tryLock(namesFile);
  while (unlock === undefined) {
    if (!(await attempts.again(`another command changes ${namesFile}`))) return undefined;
    unlock = await tryLock(namesFile);
  }
  attempts.restart();
  try {
    let entries = await readNames(namesFile, tenant);
    const write = async (next: readonly NamedTimeline[]): Promise<void> => {
      await writeNames(namesFile, tenant, next);
      entries = next;
    };
    return await work({
      all: () => entries,
      save: (entry) => write([...entries.filter(({ name }) => name !== entry.name), entry]),
      drop: (unwanted) => write(entries.filter(({ id }) => !isSameId(id, unwanted))),
    });
  } finally {
    unlock();
  }
}

/** Hex digits: servers differ in their case. */
export function isSameId(a: string | undefined, b: string | undefined): boolean {
  return a?.toLowerCase() === b?.toLowerCase();
}

/**
 * Replaces the file: a reader, and a machine that loses power, has the old one or the new one. Only the holder of the
 * lock may call it.
 */
async function writeNames(file: string, tenant: string, names: readonly NamedTimeline[]): Promise<void> {
  const timelines = names.map(({ name, id, parentId, parentLsn, pgVersion, isPending }) => ({
    name,
    id,
    ancestor: parentId,
    lsn: parentLsn,
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
    throw new ApiError('local', `${file} cannot be written: ${fileFault(error)}`);
  }
}

// One process at a time changes the file. The lock is one of the kernel, on a file beside it: it ends with its process,
// whatever ends that. Node.js has no call for such a lock, but its SQLite takes one.

/** SQLITE_BUSY: another process has it. */
const BUSY = 5;

/** Undefined: another process holds the lock. Rejects with an ApiError when there can be no lock. */
export async function tryLock(namesFile: string): Promise<(() => void) | undefined> {
  const file = `${namesFile}.lock`;
  let database: DatabaseSync | undefined;
  try {
    const { DatabaseSync: Database } = await import('node:sqlite');
    const opened = new Database(file, { timeout: 0 });
    database = opened;
    opened.exec('BEGIN EXCLUSIVE');
    return () => opened.close();
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return undefined;
    throw new ApiError('local', `${file} cannot be locked: is its folder there, and may this user write to it?`);
  }
}
