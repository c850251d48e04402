// The operations on the cluster that are one request of the management API, with the sessions that this proxy has.
import type { ClusterControl } from '../cluster/control.ts';
import type { CoreParts } from './reload.ts';
import type { Standing } from '../core/standing.ts';
import { sessionsOn } from './sessions-on.ts';

/** A restart also moves the sessions of its member. */
export async function clusterControl({ running, monitor, proxy, clock }: CoreParts): Promise<ClusterControl> {
  const [{ withParking }, control] = await Promise.all([
    import('../cluster/restart-in-place.ts'),
    running.access.control(),
  ]);
  return withParking(control, {
    clock,
    moves: () => running.config.moves,
    handOver: (handover) => monitor.handOver(handover),
    sessions: async (member) => (await sessionsOn(proxy, member)).onMember,
    pools: (member) =>
      [...monitor.table().pools].flatMap(([pool, { standings }]) => (isOwnMember(standings.get(member)) ? [pool] : [])),
  });
}

/** It takes new sessions, and not as a fallback alone. */
function isOwnMember(standing: Standing | undefined): boolean {
  return standing?.kind === 'open' && standing.why.code !== 'fallback';
}
