// The control of a cluster by its members' APIs, found as a configuration with these seeds finds them.
import { createClusterAccess } from '../../../src/app/cluster-access.ts';
import type { ClusterControl } from '../../../src/cluster/control.ts';
import type { ClusterConfig } from '../../../src/model/cluster-config.ts';
import { systemClock } from '../waiting/system-clock.ts';

export async function directControl(
  seeds: readonly string[],
  more: Partial<ClusterConfig> = {},
): Promise<ClusterControl> {
  const config: ClusterConfig = {
    discovery: 'dynamic',
    seeds: seeds.map((url) => {
      const { hostname, port } = new URL(url);
      return { url, address: { host: hostname, port: Number(port) } };
    }),
    members: [],
    allow: { networks: [], hosts: [], ports: [] },
    kubernetes: undefined,
    api: { tls: undefined, auth: undefined },
    ...more,
  };
  const access = createClusterAccess(config, { clock: systemClock, tell: () => {}, onHint: () => {} });
  return await access.control();
}
