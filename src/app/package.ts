// The version, from the package's manifest, and the directory of the status page beside it. The package resolves its
// own name in src/ as in dist/.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const manifest = createRequire(import.meta.url).resolve('pointsman/package.json');

export const { version }: { readonly version: string } = JSON.parse(readFileSync(manifest, 'utf8'));

/** `npm run build:page` and `npm run build` make it. */
export const pageDirectory = join(dirname(manifest), 'dist', 'page');
