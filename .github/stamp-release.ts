// Prepares the manifests of a release, in the workflow's checkout only: nothing of this is committed.
//   node .github/stamp-release.ts --check     fails unless the tag and the manifests name the same version
//   node .github/stamp-release.ts NAMESPACE   also names the repository and the published image in them
// package.json stays private in the repository, so that `npm publish` works in this workflow alone.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isScalar, parseDocument } from 'yaml';

const TOP = new URL('..', import.meta.url).pathname;
const FILES = {
  manifest: 'package.json',
  chart: 'deploy/kubernetes/chart/Chart.yaml',
  values: 'deploy/kubernetes/chart/values.yaml',
  alerts: 'deploy/kubernetes/chart/files/alerts.yaml',
  kustomizedAlerts: 'deploy/kubernetes/kustomize/monitoring/prometheus-rule.yaml',
} as const;

/** The repository has no address of its own, so there the alerts name the path of the page alone. */
const RUNBOOK = /(?<=runbook_url: )(?=deploy\/runbook\.md#)/g;

const NAMES = ['manifest', 'chart', 'values', 'alerts', 'kustomizedAlerts'] as const;

export type Manifests = Readonly<Record<keyof typeof FILES, string>>;

export interface Release {
  /** Of the tag, without its leading v. */
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

export function stamp(manifests: Manifests, { version, repository, image }: Release): Manifests {
  const { manifest, chart, values, alerts, kustomizedAlerts } = manifests;
  const page = `${repository}/blob/v${version}/`;
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
    alerts: alerts.replaceAll(RUNBOOK, page),
    kustomizedAlerts: kustomizedAlerts.replaceAll(RUNBOOK, page),
  };
}

/** The values with another `image.repository`, and every other character as it was. */
function withImage(values: string, image: string): string {
  const node = parseDocument(values).getIn(['image', 'repository'], true);
  if (!isScalar(node) || !node.range) throw new Error('values.yaml has no image.repository');
  const [start, end] = node.range;
  return `${values.slice(0, start)}${image}${values.slice(end)}`;
}

async function readAll(): Promise<Manifests> {
  const [manifest = '', chart = '', values = '', alerts = '', kustomizedAlerts = ''] = await Promise.all(
    NAMES.map((name) => readFile(join(TOP, FILES[name]), 'utf8')),
  );
  return { manifest, chart, values, alerts, kustomizedAlerts };
}

async function main(argument: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const manifests = await readAll();
  const version = env['GITHUB_REF_NAME']?.replace(/^v/, '') ?? '';
  const faults = differences(manifests, version);
  if (faults.length > 0 || argument === undefined) {
    throw new Error(faults.join('; ') || 'usage: stamp-release.ts --check | NAMESPACE');
  }
  if (argument === '--check') return;
  const repository = `${env['GITHUB_SERVER_URL']}/${env['GITHUB_REPOSITORY']}`;
  const stamped = stamp(manifests, { version, repository, image: argument });
  await Promise.all(NAMES.map((name) => writeFile(join(TOP, FILES[name]), stamped[name])));
}

if (import.meta.main) await main(process.argv[2], process.env);
