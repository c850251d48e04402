// Holds for every set of rendered manifests: Kubernetes accepts it, Pointsman accepts its configuration, the shutdown
// times fit together, and the security settings are there.
import { expect } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/config.ts';
import { SERVER, tlsFile } from '../values/tls-files.ts';
import { configurationOf, podSpecOf, pointsmanIn } from './manifests.ts';
import type { Manifest, PodSpec } from './manifests.ts';
import { sidecarShares, standaloneShares } from './shutdown-rules.ts';
import { findFaults } from './validate-manifests.ts';

/** The kubelet sets it. */
const IN_POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };

/** The configuration that the manifests give, with test certificates where they mount a Secret. */
export function loadedBy(manifests: readonly Manifest[], pod: PodSpec): Config {
  const { file: written, env } = configurationOf(manifests, pod);
  const file = written
    .replace('/etc/pointsman-tls/tls.crt', SERVER.cert)
    .replace('/etc/pointsman-tls/tls.key', SERVER.key)
    .replace('/etc/patroni-ca/ca.crt', tlsFile('ca.pem'));
  const loaded = loadConfig({ file: 'pointsman.yaml', env: { ...IN_POD, ...env }, readFile: () => file });
  expect(loaded, file).toMatchObject({ kind: 'ok', warnings: [] });
  if (loaded.kind === 'invalid') throw new Error('expected above');
  return loaded.config;
}

/** The manifests that have pods. */
export function workloadsOf(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
}

export async function holdManifests(manifests: readonly Manifest[]): Promise<void> {
  expect(await findFaults(manifests)).toEqual([]);
  expect(workloadsOf(manifests).length).toBeGreaterThan(0);
  for (const one of workloadsOf(manifests)) holdPod(manifests, podSpecOf(one));
}

function holdPod(manifests: readonly Manifest[], pod: PodSpec): void {
  const { shutdown, admin, listeners } = loadedBy(manifests, pod);
  const container = pointsmanIn(pod);
  const isSidecar = pod.initContainers.includes(container);
  const shares = (isSidecar ? sidecarShares : standaloneShares)(pod.terminationGracePeriodSeconds);
  expect(shutdown).toEqual({
    graceMs: shares.graceSeconds * 1000,
    drainTimeoutMs: shares.drainSeconds * 1000,
    waitMs: 0,
  });
  // The kubelet probes the pod's address, at the port with this name.
  const adminPort = container.ports.find(({ containerPort }) => containerPort === admin.address.port);
  for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
    expect(probe?.httpGet.port).toBe(adminPort?.name ?? 'a port of the container');
  }
  expect(admin.address.host).toBe('::');
  for (const { address } of listeners) expect(address.host).toBe(isSidecar ? '127.0.0.1' : '::');
  if (isSidecar) expect(container.restartPolicy).toBe('Always');
  expect({ ...Object(pod['securityContext']), ...Object(container.securityContext) }).toMatchObject({
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  });
}
