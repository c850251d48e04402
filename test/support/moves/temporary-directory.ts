// A directory for the files of a describe block.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** Call inside describe, before the parts that use it; its path is there from their start to their end. */
export function temporaryDirectory(): { readonly path: string } {
  let path: string | undefined;
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  });
  afterAll(async () => {
    if (path !== undefined) await rm(path, { recursive: true, force: true });
  });
  return {
    get path() {
      if (path === undefined) throw new Error('used before beforeAll');
      return path;
    },
  };
}
