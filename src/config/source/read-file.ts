// The text of the configuration file.
import { closeSync, openSync, readSync } from 'node:fs';

/** The file's name for standard input. It can be read once. */
export const STANDARD_INPUT = '-';

const STDIN = 0;

/** A device may go on for ever. Bytes. */
const MOST_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Reads it whole; throws what node:fs throws, and EFBIG if it is too large. */
export function readWhole(file: string): string {
  const descriptor = file === STANDARD_INPUT ? STDIN : openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let total = 0; ;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const length = readSync(descriptor, chunk);
      if (length === 0) return Buffer.concat(chunks).toString('utf8');
      chunks.push(chunk.subarray(0, length));
      total += length;
      if (total > MOST_BYTES) throw Object.assign(new Error('too large'), { code: 'EFBIG' });
    }
  } finally {
    if (descriptor !== STDIN) closeSync(descriptor);
  }
}
