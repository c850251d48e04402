// Before the tests that start Pointsman: dist/ is that of the sources, with the status page. Built only when a source
// is newer. Each file is replaced whole, and the last one is the mark: another run here may start programs meanwhile.
import { globSync, statSync } from 'node:fs';
import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pid } from 'node:process';
import { build } from 'rolldown';
import config from '../../../rolldown.config.ts';

const TOP = new URL('../../../', import.meta.url).pathname;
const DIST = join(TOP, 'dist');
const MARK = 'main.js';

/** A directory is one, too: it is newer after a file in it was removed. */
const SOURCES = ['src', 'src/**', 'rolldown.*.ts', 'package.json', 'package-lock.json'];

function changedAtMs(path: string): number {
  return statSync(join(TOP, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

export default async function setUp(): Promise<void> {
  const sources = globSync(SOURCES, { cwd: TOP });
  if (changedAtMs(join('dist', MARK)) > Math.max(...sources.map(changedAtMs))) return;
  const begun = new Date();
  const { output } = await build({ ...config, cwd: TOP, logLevel: 'warn', write: false });
  const files = output.map((file) => ({
    path: join(DIST, file.fileName),
    content: file.type === 'chunk' ? file.code : file.source,
    isMark: file.fileName === MARK,
  }));
  for (const { path, content } of files.toSorted((a, b) => Number(a.isMark) - Number(b.isMark))) {
    await mkdir(dirname(path), { recursive: true });
    const fresh = `${path}.${pid}`;
    await writeFile(fresh, content);
    // A source that changes during the build is newer than the mark.
    await utimes(fresh, begun, begun);
    await rename(fresh, path);
  }
}
