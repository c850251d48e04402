// The status page, built from the sources as they are, for tests that serve it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';
import page from '../../../rolldown.page.config.ts';

const TOP = new URL('../../../', import.meta.url).pathname;

export interface BuiltPage extends AsyncDisposable {
  readonly directory: string;
}

/** `into`: a directory to make. Default: a temporary one. */
export async function buildPage(into?: string): Promise<BuiltPage> {
  const directory = into ?? (await mkdtemp(join(tmpdir(), 'pointsman-page-')));
  await build({ ...page, cwd: TOP, logLevel: 'warn', output: { ...page.output, dir: directory } });
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}
