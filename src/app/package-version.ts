// The version, from the package's manifest: the package resolves its own name in src/ as in dist/.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';

const manifest = readFileSync(createRequire(import.meta.url).resolve('pointsman/package.json'), 'utf8');

export const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest));
