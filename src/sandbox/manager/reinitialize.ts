// Rebuilds a replica on request. The rebuild continues in the background; the member reports `creating replica`
// meanwhile.
import type { ManagedMember } from './managed-member.ts';
import type { OperationOutcome } from './operation-outcomes.ts';
import { rebuild } from './steps.ts';
import type { ClusterView } from './view.ts';

export async function reinitialize(
  member: ManagedMember,
  options: { readonly force: boolean; readonly fromLeader: boolean },
): Promise<OperationOutcome> {
  const { session, instance } = member;
  if (!session.read()) return { kind: 'failed', text: 'the configuration store does not answer' };
  const cluster = session.cluster();
  const leader = cluster?.leader;
  if (cluster === undefined || leader === undefined) return refused('Cluster has no leader, can not reinitialize');
  if (leader === member.name) return refused('I am the leader, can not reinitialize');
  if (instance.role() === 'primary') return refused('I am a primary, can not reinitialize');
  const source = options.fromLeader ? leader : (sourceAmong(cluster, member.name) ?? leader);
  for (;;) {
    const rebuilding = member.task.run('reinitialize', () => rebuild(member, source));
    if (rebuilding !== undefined) {
      void rebuilding.catch((error: unknown) => member.warn(`reinitialize failed: ${String(error)}`));
      return { kind: 'done', text: 'reinitialize started' };
    }
    if (!options.force) return { kind: 'failed', text: `${member.task.name() ?? 'another task'} already in progress` };
    // The current task ends with its server.
    await instance.server.kill();
    await member.task.ended();
  }
}

/** Prefers a replica with Patroni's tag `clonefrom`, to spare the leader. */
function sourceAmong(cluster: ClusterView, me: string): string | undefined {
  return cluster.members.find(
    ({ name, tags, state }) => name !== me && Boolean(tags['clonefrom']) && state === 'streaming',
  )?.name;
}

function refused(text: string): OperationOutcome {
  return { kind: 'refused', text };
}
