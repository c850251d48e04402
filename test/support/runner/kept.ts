// Directories that are dear to make and the same for every test (a database cluster, a compiled program): made once and
// kept, for the next test and the next run.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = new URL('../../../node_modules/.cache/tests-kept/', import.meta.url).pathname;

/**
 * Returns a directory that `make` has filled. `from`: all that its contents depend on; another value gives another
 * directory. Several processes may ask at a time: one of them wins.
 */
export async function kept(
  name: string,
  from: readonly Buffer[],
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const part of from) hash.update(`${part.length} `).update(part);
  const place = join(FOLDER, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(place)) return place;
  await mkdir(FOLDER, { recursive: true });
  const fresh = await mkdtemp(join(FOLDER, `.${name}-`));
  try {
    await make(fresh);
    await rename(fresh, place);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!existsSync(place)) throw error;
  }
  return place;
}
