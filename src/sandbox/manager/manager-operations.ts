// The manager's operations for the API, each delegated to its file.
import { patched, replaced } from './config-change.ts';
import type { ManagedMember } from './managed-member.ts';
import type { ConfigOutcome, ManagerOutcome, ManagerOperations, ReinitializeOptions } from './operation-outcomes.ts';
import { cancelRestart, restart, scheduleRestart } from './restart.ts';
import { NO_STORE, cancelSwitchover, failover, switchover } from './switchover-on-request.ts';
import { refused } from './switchover-plan.ts';
import type { ClusterView, JsonObject } from './view.ts';
import { rebuild } from './steps.ts';

export function createOperations(member: ManagedMember): ManagerOperations {
  return {
    pulse: () => member.pulse(),
    look: () => member.look(),
    readCluster: () => member.store.read(),
    patchConfig: (changes) => changeConfig(member, (config) => patched(config, changes)),
    putConfig: (config) => changeConfig(member, () => replaced(config)),
    switchover: (request) => switchover(member, request),
    cancelSwitchover: () => cancelSwitchover(member),
    failover: (candidate) => failover(member, candidate),
    restart: (conditions) => restart(member, conditions),
    scheduleRestart: (conditions, schedule) => scheduleRestart(member, conditions, schedule),
    cancelRestart: () => cancelRestart(member),
    reload: () => reload(member),
    reinitialize: (options) => reinitialize(member, options),
  };
}

/** Every manager sees the change in the store and applies it in a heartbeat that starts at once. */
function changeConfig({ store }: ManagedMember, change: (config: JsonObject) => ConfigOutcome): ConfigOutcome {
  const cluster = store.read();
  if (cluster === undefined) return NO_STORE;
  const changed = change(cluster.config);
  if (changed.kind === 'done') store.writeConfig(changed.config);
  return changed;
}

async function reload(member: ManagedMember): Promise<ManagerOutcome> {
  const why = await member.configuration.readFile();
  if (why !== undefined) return { kind: 'failed', text: why };
  await member.instance.configure(member.parameters());
  member.publish();
  member.heartbeat.poke();
  return { kind: 'done', text: 'reloaded' };
}

async function reinitialize(member: ManagedMember, options: ReinitializeOptions): Promise<ManagerOutcome> {
  const { session, instance } = member;
  const cluster = session.read();
  if (cluster === undefined) return NO_STORE;
  const { leader } = cluster;
  if (leader === undefined) return refused('Cluster has no leader, can not reinitialize');
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
