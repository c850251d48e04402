// The text of the configuration file.
import { readFileSync } from 'node:fs';

/** The file's name for standard input. It can be read once. */
export const STANDARD_INPUT = '-';

const STDIN = 0;

/** Reads it whole; throws what node:fs throws. */
export function readWhole(file: string): string {
  return readFileSync(file === STANDARD_INPUT ? STDIN : file, 'utf8');
}
