// Whether every user of this machine can read a file, as PostgreSQL asks for its own key files.
import { statSync } from 'node:fs';

const READ_BY_OTHERS = 0o004;

/** Blocks until the file system answers. False if there is no such file. */
export function isOpenToAll(file: string): boolean {
  try {
    return (statSync(file).mode & READ_BY_OTHERS) !== 0;
  } catch {
    return false;
  }
}
