// The reason why a file cannot be read, for the operator.
import { readFileSync } from 'node:fs';

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'it is a directory'],
  ['EFBIG', 'it is too large for a configuration (over 4 MB)'],
]);

/** `cannot be read: permission denied`; takes an error of node:fs. */
export function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `cannot be read: ${REASONS.get(code) ?? code}`;
}

/** Blocks until the file is read. Undefined when it can be. */
export function unreadableFile(file: string): string | undefined {
  try {
    readFileSync(file);
    return undefined;
  } catch (error) {
    return unreadable(error);
  }
}
