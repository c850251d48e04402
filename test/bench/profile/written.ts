// The file that a profiled process writes.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const WITHIN_MS = 30_000;

export function fileOf(directory: string, kind: 'cpu' | 'heap'): string {
  return join(directory, `steady.${kind}profile`);
}

/** Removes the profile of an earlier run, which would otherwise be taken for the new one. */
export function forget(directory: string, kind: 'cpu' | 'heap'): void {
  rmSync(fileOf(directory, kind), { force: true });
}

export async function whenWritten(directory: string, kind: 'cpu' | 'heap'): Promise<string> {
  const file = fileOf(directory, kind);
  for (const begun = performance.now(); !existsSync(file); await delay(50)) {
    if (performance.now() - begun > WITHIN_MS) throw new Error(`${file} was not written within ${WITHIN_MS} ms`);
  }
  return file;
}
