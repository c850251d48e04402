// The reason why Pointsman cannot keep files in a directory, for the operator.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'a part of its path is not a directory'],
  ['EACCES', 'this user may not write there'],
  ['EROFS', 'its file system is read-only'],
]);

/** Blocks until the file system answers. Undefined: files can be made there. A missing directory is made with them. */
export function unusableDirectory(directory: string): string | undefined {
  try {
    if (!statSync(directory).isDirectory()) return 'it is not a directory';
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const above = dirname(directory);
    if (code === 'ENOENT' && above !== directory) return unusableDirectory(above);
    return REASONS.get(code) ?? code;
  }
}
