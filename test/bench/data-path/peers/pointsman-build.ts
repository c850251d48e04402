// Pointsman as its package has it: the built programs of a checkout in their own directory, beside its dependencies.
import { copyFileSync, existsSync, mkdtempDisposableSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../child.ts';

export interface Build extends Disposable {
  /** The path of the program. */
  readonly main: string;
}

/** Node's options from the command's first line. */
export function flagsOf(main: string): readonly string[] {
  const [first = ''] = readFileSync(main, 'utf8').split('\n');
  return first.startsWith('#!') ? first.split(' ').filter((word) => word.startsWith('--')) : [];
}

/** `files`: the sources themselves, whose types Node strips, so that a profile names the source. */
export type BuiltAs = 'package' | 'files';

/** Builds a checkout; one that is older than the bundles runs from its sources. */
export async function buildPointsman(checkout: string, as: BuiltAs): Promise<Build> {
  const bundling = resolve(checkout, 'rolldown.config.ts');
  if (as === 'files' || !existsSync(bundling)) {
    return { main: resolve(checkout, 'src/main.ts'), [Symbol.dispose]: () => {} };
  }
  using started = new DisposableStack();
  const { path } = started.use(mkdtempDisposableSync(join(tmpdir(), 'pointsman-build-')));
  copyFileSync(join(checkout, 'package.json'), join(path, 'package.json'));
  symlinkSync(resolve(checkout, 'node_modules'), join(path, 'node_modules'));
  const outDir = join(path, 'dist');
  const rolldown = resolve(checkout, 'node_modules/rolldown/bin/cli.mjs');
  const args = [rolldown, '-c', bundling, '--cwd', resolve(checkout), '--dir', outDir];
  await run({ command: process.execPath, args });
  const held = started.move();
  return { main: join(outDir, 'main.js'), [Symbol.dispose]: () => held.dispose() };
}
