// A kustomization rendered by the kustomize that is in kubectl. An old one without components (Debian 12's kubectl has
// kustomize 2.0) gets the same kustomization in the words that it knows; patches and references are still its own work.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { parseManifests } from './manifests.ts';
import type { Manifest } from './manifests.ts';

const run = promisify(execFile);

const KUSTOMIZATIONS = new URL('../../../deploy/kubernetes/kustomize', import.meta.url).pathname;

const version = await run('kubectl', ['version', '--client', '-o', 'json']).then(
  ({ stdout }) => z.looseObject({ kustomizeVersion: z.string().optional() }).parse(JSON.parse(stdout)),
  () => undefined,
);

/** For people; undefined when nothing is. */
export const missingKustomize =
  version === undefined ? 'kubectl (npm run prerequisites installs it, as kubernetes-client)' : undefined;

/** `directory` below deploy/kubernetes/kustomize. */
export async function renderKustomization(directory: string): Promise<readonly Manifest[]> {
  const source = join(KUSTOMIZATIONS, directory);
  // An old kubectl does not say which kustomize it has.
  if (version?.kustomizeVersion !== undefined) return kustomize(source);
  const lowered = await mkdtemp(join(tmpdir(), 'pointsman-kustomize-'));
  try {
    await lower(source, lowered);
    return await kustomize(lowered);
  } finally {
    await rm(lowered, { recursive: true });
  }
}

async function kustomize(directory: string): Promise<readonly Manifest[]> {
  const { stdout } = await run('kubectl', ['kustomize', directory], { maxBuffer: 16 * 1024 * 1024 });
  return parseManifests(stdout);
}

const target = z.strictObject({
  kind: z.string().optional(),
  name: z.string().optional(),
  labelSelector: z.templateLiteral([z.string(), '=', z.string()]).optional(),
});

const generator = z.strictObject({
  name: z.string(),
  behavior: z.literal('merge').optional(),
  files: z.array(z.string()),
});

/** All that ours use: another field is an error, since it could not be told to an old kustomize. */
const kustomization = z.strictObject({
  apiVersion: z.string(),
  kind: z.enum(['Kustomization', 'Component']),
  namespace: z.string().optional(),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  configMapGenerator: z.array(generator).default([]),
  patches: z.array(z.strictObject({ path: z.string(), target })).default([]),
  images: z.array(z.looseObject({ name: z.string() })).default([]),
});

type Part = z.infer<typeof kustomization> & { readonly source: string };

/** The input of an old kustomize; filled part by part. */
interface Lowered {
  readonly bases: string[];
  readonly resources: string[];
  readonly configMapGenerator: z.infer<typeof generator>[];
  readonly patchesStrategicMerge: string[];
}

/** Writes the contents of `source` to `into`, and returns its resources. */
async function lower(source: string, into: string): Promise<readonly Manifest[]> {
  const own = await read(source);
  const parts = [own, ...(await Promise.all(own.components.map((path) => read(join(source, path)))))];
  const out: Lowered = { bases: [], resources: [], configMapGenerator: [], patchesStrategicMerge: [] };
  const resources: Manifest[] = [];
  for (const [i, part] of parts.entries()) {
    if (i > 0 && part.components.length > 0) throw new Error(`${part.source}: a component in a component`);
    resources.push(...(await lowerResources(part, into, `${i}`, out)));
    await lowerGenerators(part, into, `${i}`, out);
    await lowerPatches(part, resources, into, out);
  }
  const { namespace, images } = own;
  await writeFile(join(into, 'kustomization.yaml'), stringify({ namespace, images, ...out }));
  return resources;
}

async function read(source: string): Promise<Part> {
  return { ...kustomization.parse(parse(await readFile(join(source, 'kustomization.yaml'), 'utf8'))), source };
}

async function lowerResources(part: Part, into: string, prefix: string, out: Lowered): Promise<readonly Manifest[]> {
  const resources: Manifest[] = [];
  for (const [i, path] of part.resources.entries()) {
    const from = join(part.source, path);
    const name = `${prefix}-${i}`;
    if ((await stat(from)).isDirectory()) {
      await mkdir(join(into, name));
      resources.push(...(await lower(from, join(into, name))));
      out.bases.push(name);
    } else {
      await cp(from, join(into, `${name}.yaml`));
      resources.push(...parseManifests(await readFile(from, 'utf8')));
      out.resources.push(`${name}.yaml`);
    }
  }
  return resources;
}

async function lowerGenerators(part: Part, into: string, prefix: string, out: Lowered): Promise<void> {
  for (const { files, ...rest } of part.configMapGenerator) {
    await Promise.all(files.map((file) => cp(join(part.source, file), join(into, `${prefix}-${file}`))));
    out.configMapGenerator.push({ ...rest, files: files.map((file) => `${file}=${prefix}-${file}`) });
  }
}

/** A patch for each resource: an old kustomize finds its targets by kind and name alone. */
async function lowerPatches(part: Part, resources: readonly Manifest[], into: string, out: Lowered): Promise<void> {
  for (const patch of part.patches) {
    const body = z.looseObject({}).parse(parse(await readFile(join(part.source, patch.path), 'utf8')));
    for (const { apiVersion, kind, metadata } of resources.filter((one) => isMeant(patch.target, one))) {
      const file = `patch-${out.patchesStrategicMerge.length}.yaml`;
      await writeFile(join(into, file), stringify({ ...body, apiVersion, kind, metadata: { name: metadata.name } }));
      out.patchesStrategicMerge.push(file);
    }
  }
}

function isMeant({ kind, name, labelSelector }: z.infer<typeof target>, one: Manifest): boolean {
  const [label = '', value] = labelSelector?.split('=') ?? [];
  return (
    (kind === undefined || kind === one.kind) &&
    (name === undefined || name === one.metadata.name) &&
    (labelSelector === undefined || one.metadata.labels?.[label] === value)
  );
}
