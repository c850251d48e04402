// One process at a time changes the names file. The lock is one of the kernel, on a file beside it: it ends with its
// process, whatever ends that. Node.js has no call for such a lock, but its SQLite takes one.
import type { DatabaseSync } from 'node:sqlite';
import { ApiError } from '../http/request.ts';

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
