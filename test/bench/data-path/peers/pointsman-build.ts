// Pointsman as the package has it: a checkout's sources compiled into a directory of their own, beside its dependencies.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../child.ts';

export interface Build extends Disposable {
  /** The compiled command. */
  readonly main: string;
}

/** Node's options as the command's own first line has them. */
export function flagsOf(main: string): readonly string[] {
  const [first = ''] = readFileSync(main, 'utf8').split('\n');
  return first.startsWith('#!') ? first.split(' ').filter((word) => word.startsWith('--')) : [];
}

export async function buildPointsman(checkout: string): Promise<Build> {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-build-'));
  copyFileSync(join(checkout, 'package.json'), join(directory, 'package.json'));
  symlinkSync(resolve(checkout, 'node_modules'), join(directory, 'node_modules'));
  const outDir = join(directory, 'dist');
  const compiler = resolve(checkout, 'node_modules/typescript/bin/tsc');
  await run({ command: process.execPath, args: [compiler, '-p', join(checkout, 'src'), '--outDir', outDir] });
  return {
    main: join(outDir, 'main.js'),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
