// Pointsman as one of the peers: its own process with the usual configuration on free ports.
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { membersOf } from '../../support/clusters/pool-members.ts';
import type { Peer } from './peer.ts';
import { ProxyClients } from './proxied.ts';

const NAME = 'Pointsman';

export async function startPointsmanPeer(cluster: PatroniCluster): Promise<Peer> {
  const pointsman = await startPointsman(configFor(cluster, { log: { level: 'info', format: 'json' } }));
  try {
    await pointsman.waitUntilReady();
    const ports = { write: await pointsman.port('write'), read: await pointsman.port('read') };
    const clients = new ProxyClients(NAME, ports, cluster.app);
    const has = async (pool: string, expected: readonly MemberAddress[]): Promise<boolean> => {
      const members = await membersOf({ cluster, pointsman }, pool);
      return (
        members.length === expected.length && expected.every(({ name }) => members.some((one) => one.name === name))
      );
    };
    return {
      name: NAME,
      write: (token) => clients.write(token),
      keep: (count) => clients.keep(count),
      longQuery: () => clients.longQuery(),
      readPort: ports.read,
      isSettled: async (leader, replicas) => (await has('write', [leader])) && (await has('read', replicas)),
      log: () => pointsman.lines,
      stop: () => pointsman.stop(),
    };
  } catch (error) {
    await pointsman.stop();
    throw error;
  }
}
