// Checks manifests against the schemas of Kubernetes and of the Prometheus operator. The validators of the npm package
// kubernetes-models let unknown fields pass. The compiler rejects unknown fields in a literal of the same package's
// types, so both are used.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Manifest } from './manifests.ts';

const run = promisify(execFile);
const MODULES = new URL('../../../node_modules', import.meta.url).pathname;

type Model = new (data: never) => { validate(): void };
type Load = () => Promise<Readonly<Record<string, Model>>>;

/** Every kind that is deployed. Any other kind is an error. */
const KINDS: Readonly<Record<string, Load>> = {
  'apps/v1/Deployment': () => import('kubernetes-models/apps/v1/Deployment'),
  'autoscaling/v2/HorizontalPodAutoscaler': () => import('kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'),
  'batch/v1/Job': () => import('kubernetes-models/batch/v1/Job'),
  'networking.k8s.io/v1/NetworkPolicy': () => import('kubernetes-models/networking.k8s.io/v1/NetworkPolicy'),
  'policy/v1/PodDisruptionBudget': () => import('kubernetes-models/policy/v1/PodDisruptionBudget'),
  'rbac.authorization.k8s.io/v1/Role': () => import('kubernetes-models/rbac.authorization.k8s.io/v1/Role'),
  'rbac.authorization.k8s.io/v1/RoleBinding': () =>
    import('kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding'),
  'v1/Pod': () => import('kubernetes-models/v1/Pod'),
  'v1/ConfigMap': () => import('kubernetes-models/v1/ConfigMap'),
  'v1/Service': () => import('kubernetes-models/v1/Service'),
  'v1/ServiceAccount': () => import('kubernetes-models/v1/ServiceAccount'),
  'monitoring.coreos.com/v1/PodMonitor': () =>
    import('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor'),
  'monitoring.coreos.com/v1/PrometheusRule': () =>
    import('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'),
  'monitoring.coreos.com/v1/ServiceMonitor': () =>
    import('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'),
};

/** All faults, one sentence each. */
export async function findFaults(manifests: readonly Manifest[]): Promise<readonly string[]> {
  const byValue = await Promise.all(manifests.map((one) => valueFaults(one)));
  return [...byValue.flat(), ...(await fieldFaults(manifests))];
}

async function valueFaults(one: Manifest): Promise<readonly string[]> {
  const load = KINDS[`${one.apiVersion}/${one.kind}`];
  if (load === undefined) return [`${nameOf(one)}: no schema for ${one.apiVersion} ${one.kind}`];
  const model = (await load())[one.kind];
  if (model === undefined) return [`${nameOf(one)}: no model for ${one.kind}`];
  try {
    const made: InstanceType<Model> = Reflect.construct(model, [one]);
    made.validate();
    return [];
  } catch (error) {
    return [`${nameOf(one)}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const COMPILER_OPTIONS = {
  module: 'nodenext',
  target: 'esnext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
};

async function fieldFaults(manifests: readonly Manifest[]): Promise<readonly string[]> {
  const known = manifests.filter((one) => `${one.apiVersion}/${one.kind}` in KINDS);
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-manifests-'));
  try {
    await symlink(MODULES, join(directory, 'node_modules'));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
    await Promise.all(known.map((one, i) => writeFile(join(directory, `${i}-${one.kind}.ts`), asSource(one))));
    return await run(join(MODULES, '.bin/tsc'), ['-p', directory, '--pretty', 'false']).then(
      () => [],
      (error: unknown) => linesOf(error).map((line) => named(line, known)),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

function asSource(one: Manifest): string {
  const own = one.apiVersion.startsWith('monitoring.') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
  const type = `I${one.kind}`;
  return `import type { ${type} } from '${own}/${one.apiVersion}/${one.kind}';
export const manifest: ${type} = ${JSON.stringify(one, null, 1)};
`;
}

function linesOf(error: unknown): readonly string[] {
  const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.length > 0 ? lines : [String(error)];
}

/** The line with the manifest's name instead of its file's. */
function named(line: string, manifests: readonly Manifest[]): string {
  return line.replace(/^\S*?(\d+)-\w+\.ts/, (_, i) => `${nameOf(manifests[Number(i)])}: `);
}

function nameOf(one: Manifest | undefined): string {
  return one === undefined ? '?' : `${one.kind} ${one.metadata.name}`;
}
