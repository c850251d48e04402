// Pointsman as its package has it: the built programs of a checkout in their own directory, beside its dependencies.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../child.ts';

export interface Build extends Disposable {
  /** The path of the compiled command. */
  readonly main: string;
}

/** Node's options from the command's first line. */
export function flagsOf(main: string): readonly string[] {
  const [first = ''] = readFileSync(main, 'utf8').split('\n');
  return first.startsWith('#!') ? first.split(' ').filter((word) => word.startsWith('--')) : [];
}

/** `files`: each source is compiled by itself, so that a profile names the source. */
export type BuiltAs = 'package' | 'files';

/** Builds a checkout; one that is older than the bundles is built as files. */
export async function buildPointsman(checkout: string, as: BuiltAs): Promise<Build> {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-build-'));
  copyFileSync(join(checkout, 'package.json'), join(directory, 'package.json'));
  symlinkSync(resolve(checkout, 'node_modules'), join(directory, 'node_modules'));
  const outDir = join(directory, 'dist');
  const bundling = resolve(checkout, 'rolldown.config.ts');
  const [tool, ...args] =
    as === 'package' && existsSync(bundling)
      ? ['rolldown/bin/cli.mjs', '-c', bundling, '--cwd', resolve(checkout), '--dir', outDir]
      : ['typescript/bin/tsc', '-p', join(checkout, 'src'), '--outDir', outDir];
  await run({ command: process.execPath, args: [resolve(checkout, 'node_modules', tool), ...args] });
  return {
    main: join(outDir, 'main.js'),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
