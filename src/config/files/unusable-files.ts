// The text of a file, and why a file or a directory cannot be used, for the operator.
import { readFileSync, accessSync, constants, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, fileFault } from '../../model/errno.ts';

/** `cannot be read: permission denied`; takes an error of node:fs. */
export function unreadable(error: unknown): string {
  return `cannot be read: ${fileFault(error)}`;
}

/** Blocks until the file is read, and keeps nothing of it. Undefined when it can be read. */
export function unreadableFile(file: string): string | undefined {
  try {
    readFileSync(file).fill(0);
    return undefined;
  } catch (error) {
    return unreadable(error);
  }
}

/** `why` follows the file's name. */
export type FileText =
  | { readonly text: string; readonly why?: undefined }
  | { readonly text?: undefined; readonly why: string };

/** Blocks until the file is read. */
export function readTextNow(file: string): FileText {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { why: unreadable(error) };
  }
}

/** The same without blocking. Never rejects. */
export async function readText(file: string): Promise<FileText> {
  try {
    return { text: await readFile(file, 'utf8') };
  } catch (error) {
    return { why: unreadable(error) };
  }
}

const DIRECTORY_REASONS: ReadonlyMap<string, string> = new Map([
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
    const code = errorCode(error);
    const above = dirname(directory);
    if (code === 'ENOENT' && above !== directory) return unusableDirectory(above);
    return DIRECTORY_REASONS.get(code) ?? fileFault(error);
  }
}

const READ_BY_OTHERS = 0o004;

/** Blocks until the file system answers. False if there is no such file. */
export function isOpenToAll(file: string): boolean {
  try {
    return (statSync(file).mode & READ_BY_OTHERS) !== 0;
  } catch {
    return false;
  }
}
