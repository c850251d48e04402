// The inputs that are kept: each found a fault once, or leads somewhere that mutations reach only by chance.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CORPUS = join(import.meta.dirname, 'corpus');

export interface KeptInput {
  readonly file: string;
  readonly bytes: Uint8Array;
}

export function corpusOf(target: string): readonly KeptInput[] {
  const directory = join(CORPUS, target);
  try {
    return readdirSync(directory).map((file) => ({ file, bytes: readFileSync(join(directory, file)) }));
  } catch {
    return [];
  }
}

/** Returns the file. */
export function keep(target: string, input: Uint8Array): string {
  const file = join(CORPUS, target, createHash('sha256').update(input).digest('hex').slice(0, 12));
  mkdirSync(join(CORPUS, target), { recursive: true });
  writeFileSync(file, input);
  return file;
}
