// Rendered manifests as plain data, and what tests look up in them.
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }),
});

export type Manifest = z.infer<typeof manifest>;

const probe = z.looseObject({
  httpGet: z.looseObject({ path: z.string(), port: z.union([z.string(), z.number()]) }),
  periodSeconds: z.number(),
  timeoutSeconds: z.number(),
  failureThreshold: z.number(),
});

const environmentVariable = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.looseObject({ fieldRef: z.looseObject({ fieldPath: z.string() }).optional() }).optional(),
});

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  restartPolicy: z.string().optional(),
  args: z.array(z.string()).default([]),
  env: z.array(environmentVariable).default([]),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  lifecycle: z.strictObject({ preStop: z.strictObject({ sleep: z.strictObject({ seconds: z.number() }) }) }).optional(),
  resources: z.unknown().optional(),
  securityContext: z.unknown().optional(),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
});

const podSpec = z.looseObject({
  restartPolicy: z.enum(['Always', 'OnFailure', 'Never']).default('Always'),
  terminationGracePeriodSeconds: z.number(),
  initContainers: z.array(container).default([]),
  containers: z.array(container),
  volumes: z
    .array(z.looseObject({ name: z.string(), configMap: z.looseObject({ name: z.string() }).optional() }))
    .default([]),
});

/** The fields of a pod that variables refer to, as the kubelet would have them. */
const POD_FIELDS: ReadonlyMap<string, string> = new Map([["metadata.labels['topology.kubernetes.io/zone']", 'eu-1']]);

const workload = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: podSpec }) }) });
const configMap = z.looseObject({ data: z.record(z.string(), z.string()) });

export type Probe = z.infer<typeof probe>;
export type Container = z.infer<typeof container>;
export type PodSpec = z.infer<typeof podSpec>;

export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value: unknown = document.toJS();
    return value === null || value === undefined ? [] : [manifest.parse(value)];
  });
}

export function manifestOf(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} manifests are ${kind} ${name ?? ''}`);
  return first;
}

/** The pod of a Deployment or a Job. */
export function podSpecOf(one: Manifest): PodSpec {
  return workload.parse(one).spec.template.spec;
}

/** Pointsman's container, wherever it is in the pod. */
export function pointsmanIn({ initContainers, containers }: PodSpec): Container {
  const found = [...initContainers, ...containers].find(({ name }) => name === 'pointsman');
  if (found === undefined) throw new Error('no container is named pointsman');
  return found;
}

/** Pointsman's input: its file, from the volume that is mounted at /etc/pointsman, and its environment variables. */
export function configurationOf(
  manifests: readonly Manifest[],
  pod: PodSpec,
): { readonly file: string; readonly env: Readonly<Record<string, string>> } {
  const { volumeMounts, env } = pointsmanIn(pod);
  const mount = volumeMounts.find(({ mountPath }) => mountPath === '/etc/pointsman');
  const map = pod.volumes.find(({ name }) => name === mount?.name)?.configMap;
  const file = configMap.parse(manifestOf(manifests, 'ConfigMap', map?.name ?? 'none')).data['pointsman.yaml'];
  if (file === undefined) throw new Error('the ConfigMap has no pointsman.yaml');
  const given = env.flatMap(({ name, value, valueFrom }) => {
    const text = value ?? POD_FIELDS.get(valueFrom?.fieldRef?.fieldPath ?? '');
    return text === undefined ? [] : [[name, text] as const];
  });
  return { file, env: Object.fromEntries(given) };
}
