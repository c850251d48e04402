// Pods and EndpointSlices as Patroni and the control plane make them, as far as the tests need them.
import type { KubernetesObject } from './api-server.ts';

export const PODS = '/api/v1/namespaces/db/pods';
export const SLICES = '/apis/discovery.k8s.io/v1/namespaces/db/endpointslices';

/** A pod of the cluster `demo` unless told otherwise; `undefined`: it has no address yet. */
export function aPod(name: string, podIP: string | undefined, more: Record<string, unknown> = {}): KubernetesObject {
  const { role = 'replica', labels = {}, phase = 'Running', metadata = {}, spec = {} } = more;
  return {
    kind: 'Pod',
    metadata: {
      name,
      labels: { application: 'patroni', 'cluster-name': 'demo', role: String(role), ...Object(labels) },
      ...Object(metadata),
    },
    spec: { containers: [{ ports: [{ name: 'patroni', containerPort: 8008 }] }], ...Object(spec) },
    status: { phase, ...(podIP === undefined ? {} : { podIP }) },
  };
}

export function aSlice(name: string, service: string, ...addresses: readonly string[]): KubernetesObject {
  return {
    kind: 'EndpointSlice',
    metadata: { name, labels: { 'kubernetes.io/service-name': service } },
    addressType: addresses[0]?.includes(':') === true ? 'IPv6' : 'IPv4',
    endpoints: addresses.map((address, i) => ({
      addresses: [address, '10.9.9.9'],
      conditions: { ready: false, serving: false, terminating: true },
      hostname: `pg-${i}`,
    })),
    ports: [
      { name: 'postgresql', port: 5432 },
      { name: 'patroni', port: 8009 },
    ],
  };
}
