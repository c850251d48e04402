// Prepares the manifests of a release, in the workflow's checkout only: nothing of this is committed.
//   node .github/stamp-release.ts --check     fails unless the tag and the manifests name the same version
//   node .github/stamp-release.ts NAMESPACE   also names the repository and the published image in them, and lets
//                                             alerts and dashboards link to its runbook
// package.json stays private in the repository, so that `npm publish` works in this workflow alone.
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isScalar, parseDocument } from 'yaml';

const TOP = new URL('..', import.meta.url).pathname;
const FILES = {
  manifest: 'package.json',
  chart: 'deploy/kubernetes/chart/Chart.yaml',
  values: 'deploy/kubernetes/chart/values.yaml',
} as const;

/** Alerts and dashboards. The repository does not know its own address, so there they name the runbook by its path. */
export const LINKED: readonly string[] = globSync(
  ['deploy/kubernetes/**/{alerts,prometheus-rule}.yaml', 'deploy/**/dashboards/*.json'],
  { cwd: TOP, exclude: (name) => name.endsWith('templates') },
).toSorted();
const RUNBOOK = 'deploy/runbook.md';

export type Manifests = Readonly<Record<keyof typeof FILES, string>>;

export interface Release {
  /** The version of the tag, without its leading v. */
  readonly version: string;
  /** `https://github.com/OWNER/NAME` */
  readonly repository: string;
  /** The image's name without a tag. */
  readonly image: string;
}

/** The places that name another version than the tag does, one sentence each. */
export function differences({ manifest, chart }: Manifests, version: string): readonly string[] {
  const named = {
    'version in package.json': JSON.parse(manifest).version,
    'version in Chart.yaml': parseDocument(chart).get('version'),
    'appVersion in Chart.yaml': parseDocument(chart).get('appVersion'),
  };
  return Object.entries(named)
    .filter(([, own]) => own !== version)
    .map(([place, own]) => `the tag names version ${version}, ${place} is ${own}`);
}

export function stamp({ manifest, chart, values }: Manifests, { version, repository, image }: Release): Manifests {
  const { private: _, ...kept } = JSON.parse(manifest);
  const published = {
    ...kept,
    homepage: `${repository}#readme`,
    repository: { type: 'git', url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
  };
  const chartDocument = parseDocument(chart);
  chartDocument.set('home', repository);
  chartDocument.set('sources', [repository]);
  chartDocument.set('icon', `${repository}/raw/v${version}/deploy/kubernetes/chart/icon.svg`);
  return {
    manifest: `${JSON.stringify(published, undefined, 2)}\n`,
    chart: chartDocument.toString({ lineWidth: 0 }),
    values: withImage(values, image),
  };
}

/** The text with the address of the runbook in this release. */
export function withRunbook(text: string, { version, repository }: Release): string {
  return text.replaceAll(new RegExp(`(?<="|runbook_url: )(?=${RUNBOOK})`, 'g'), `${repository}/blob/v${version}/`);
}

/** The values with another `image.repository`, and every other character as it was. */
function withImage(values: string, image: string): string {
  const node = parseDocument(values).getIn(['image', 'repository'], true);
  if (!isScalar(node) || !node.range) throw new Error('values.yaml has no image.repository');
  const [start, end] = node.range;
  return `${values.slice(0, start)}${image}${values.slice(end)}`;
}

async function main(argument: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const [manifest = '', chart = '', values = ''] = await Promise.all(
    Object.values(FILES).map((file) => readFile(join(TOP, file), 'utf8')),
  );
  const manifests = { manifest, chart, values };
  const version = env['GITHUB_REF_NAME']?.replace(/^v/, '') ?? '';
  const faults = differences(manifests, version);
  if (faults.length > 0 || argument === undefined) {
    throw new Error(faults.join('; ') || 'usage: stamp-release.ts --check | NAMESPACE');
  }
  if (argument === '--check') return;
  const repository = `${env['GITHUB_SERVER_URL']}/${env['GITHUB_REPOSITORY']}`;
  const release = { version, repository, image: argument };
  const stamped = stamp(manifests, release);
  for (const file of LINKED) {
    const path = join(TOP, file);
    await writeFile(path, withRunbook(await readFile(path, 'utf8'), release));
  }
  await Promise.all([
    writeFile(join(TOP, FILES.manifest), stamped.manifest),
    writeFile(join(TOP, FILES.chart), stamped.chart),
    writeFile(join(TOP, FILES.values), stamped.values),
  ]);
}

if (import.meta.main) await main(process.argv[2], process.env);
