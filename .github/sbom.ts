// The software bill of materials (CycloneDX) of what a release ships: the packages that npm installs with it, and those
// whose code is in dist/.
//   node .github/sbom.ts package   of the npm package; goes into it by `prepack`
//   node .github/sbom.ts image     of the image, which has no optional package; the workflow attests it
// BuildKit adds its own of the image, with Node and the libraries of the distribution.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import config from '../rolldown.config.ts';
import page from '../rolldown.page.config.ts';

const TOP = new URL('..', import.meta.url).pathname;

export type Product = 'package' | 'image';

export interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly scope: 'required' | 'optional';
  readonly purl: string;
  readonly properties: readonly { readonly name: string; readonly value: string }[];
  readonly licenses: readonly unknown[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

export interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

export async function billOfMaterials(product: Product): Promise<Bom> {
  // From the lock file: the optional packages of other platforms are not installed here.
  const arguments_ = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const all: Bom = JSON.parse(execFileSync('npm', arguments_, { cwd: TOP, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  const bundled = await bundledPackages();
  const components = all.components.filter(
    (one) =>
      bundled.has(one['bom-ref']) || (!isForDevelopment(one) && (product === 'package' || one.scope === 'required')),
  );
  const { component } = all.metadata;
  const refs = new Set([component, ...components].map((one) => one['bom-ref']));
  return {
    ...all,
    // npm names it by the directory.
    metadata: { ...all.metadata, component: { ...component, name: 'pointsman', scope: 'required' } },
    components: components.map(withoutMark),
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  };
}

/**
 * The packages whose code the build takes into dist/, as NAME@VERSION. Those of the page are dependencies of the build
 * alone.
 */
async function bundledPackages(): Promise<ReadonlySet<string>> {
  const outputs = [config, page].map((options) => build({ ...options, cwd: TOP, logLevel: 'warn', write: false }));
  const modules = (await Promise.all(outputs))
    .flatMap(({ output }) => output)
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const folders = new Set(modules.flatMap((id) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  const manifests = [...folders].map((folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  return new Set(manifests.map(({ name, version }) => `${name}@${version}`));
}

function isForDevelopment({ properties }: Component): boolean {
  return properties.some(({ name }) => name === DEVELOPMENT);
}

/** A package of the product is there for its users. */
function withoutMark(component: Component): Component {
  return { ...component, properties: component.properties.filter(({ name }) => name !== DEVELOPMENT) };
}

const DEVELOPMENT = 'cdx:npm:package:development';

if (import.meta.main) {
  const [, , product] = process.argv;
  if (product !== 'package' && product !== 'image') throw new Error('usage: sbom.ts package | image');
  console.log(JSON.stringify(await billOfMaterials(product), undefined, 2));
}
