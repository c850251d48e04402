// The bill of materials of a release: what npm installs with the program, and what the build takes into dist/.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { billOfMaterials } from '../../../.github/sbom.ts';
import type { Bom, Product } from '../../../.github/sbom.ts';

const TOP = new URL('../../../', import.meta.url).pathname;
const versions = z.record(z.string(), z.string());
const manifest = z
  .object({ dependencies: versions, optionalDependencies: versions, devDependencies: versions })
  .parse(JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8')));
const locked = z.object({ version: z.string(), dev: z.boolean().default(false), optional: z.boolean().default(false) });
const { packages } = z
  .object({ packages: z.record(z.string(), locked) })
  .parse(JSON.parse(readFileSync(join(TOP, 'package-lock.json'), 'utf8')));

/** Dependencies of the build alone, whose code is in the status page. */
const OF_THE_PAGE = ['preact', 'uplot'];

/** As `npm ci` installs them, NAME@VERSION. */
function installed(product: Product): readonly string[] {
  return Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== '' && !dev && (product === 'package' || !optional))
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
}

const refsOf = ({ components }: Bom): readonly string[] => components.map((component) => component['bom-ref']);
const sorted = (texts: Iterable<string>): readonly string[] => [...new Set(texts)].toSorted();

describe.each<Product>(['package', 'image'])('of the %s', async (product) => {
  const bom = await billOfMaterials(product);

  test('has what npm installs and what dist/ contains, and no tool of the development', () => {
    const ofThePage = OF_THE_PAGE.map((name) => `${name}@${manifest.devDependencies[name]}`);
    expect(sorted(refsOf(bom))).toEqual(sorted([...installed(product), ...ofThePage]));
  });

  test('has every dependency of the manifest in its version', () => {
    const { dependencies, optionalDependencies } = manifest;
    const all = { ...dependencies, ...(product === 'package' && optionalDependencies) };
    for (const [name, version] of Object.entries(all)) expect(refsOf(bom)).toContain(`${name}@${version}`);
  });

  test('names licence, hash and address of each package, and only packages that are there', () => {
    for (const { name, licenses, hashes, purl } of bom.components) {
      expect(licenses, name).not.toEqual([]);
      expect(hashes, name).not.toEqual([]);
      expect(purl, name).toMatch(/^pkg:npm\//);
    }
    const { component } = bom.metadata;
    expect(component.name).toBe('pointsman');
    const known = [component['bom-ref'], ...refsOf(bom)];
    const named = bom.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
    expect(named.filter((ref) => !known.includes(ref))).toEqual([]);
    expect(JSON.stringify(bom)).not.toContain('npm:package:development');
  });
});
