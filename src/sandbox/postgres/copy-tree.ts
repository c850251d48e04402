// Copies a data directory, of a stopped or of a running server: files may grow, shrink or vanish during the copy. The
// copy belongs to the server's user.
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../model/errno.ts';
import { give, type ServerUser } from './run-as.ts';

export interface CopyOptions {
  readonly owner: ServerUser | undefined;
  /** Called with the path from the root of the tree. A skipped directory is not created. */
  readonly isSkipped?: (path: string) => boolean;
  readonly signal?: AbortSignal;
}

/** The target must not exist. `path`: of a directory below the root of the tree. */
export async function copyTree(source: string, target: string, options: CopyOptions, path = ''): Promise<void> {
  const { owner, isSkipped = () => false, signal } = options;
  signal?.throwIfAborted();
  const here = join(target, path);
  // PostgreSQL requires that its directories are closed to others.
  await mkdir(here, { mode: 0o700 });
  await give(here, owner);
  const entries = await ifThere(readdir(join(source, path), { withFileTypes: true }));
  const wanted = (entries ?? []).filter((entry) => !isSkipped(join(path, entry.name)));
  const files = wanted.filter((entry) => entry.isFile());
  await Promise.all(files.map((file) => copyOne(source, target, join(path, file.name), owner)));
  for (const directory of wanted.filter((entry) => entry.isDirectory())) {
    await copyTree(source, target, options, join(path, directory.name));
  }
}

async function copyOne(source: string, target: string, path: string, owner: ServerUser | undefined): Promise<void> {
  const copied = await ifThere(
    copyFile(join(source, path), join(target, path), constants.COPYFILE_FICLONE).then(() => true),
  );
  if (copied === true) await give(join(target, path), owner);
}

async function ifThere<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
