// Which standbys the leader waits for, and the setting of PostgreSQL for it. Pure.
import type { SyncState } from './store.ts';
import type { ClusterSettings, ClusterView, ReplicationView } from './view.ts';

const NOBODY: SyncState = { synchronous: [], quorum: [] };

/** Only members that stream and have no `nosync` tag. A chosen member stays chosen. */
export function chooseSynchronous(
  mode: ClusterSettings['synchronousMode'],
  replication: readonly ReplicationView[],
  cluster: ClusterView,
): SyncState {
  if (mode === 'off') return NOBODY;
  const able = replication
    .filter((row) => row.state === 'streaming')
    .map((row) => row.application_name)
    .filter((name) => cluster.members.some((member) => member.name === name && !member.tags['nosync']))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (mode === 'quorum') return { synchronous: [], quorum: able };
  const chosen = able.find((name) => cluster.synchronous.includes(name)) ?? able[0];
  return chosen === undefined ? NOBODY : { synchronous: [chosen], quorum: [] };
}

/** The value of synchronous_standby_names. */
export function standbyNames({ synchronous, quorum }: SyncState): string {
  if (synchronous.length > 0) return `FIRST 1 (${quoted(synchronous)})`;
  return quorum.length > 0 ? `ANY 1 (${quoted(quorum)})` : '';
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(',');
}

/**
 * The part that may be published now: a name is in the store only while PostgreSQL waits for it, because a published
 * member may be elected. So a name is removed from the store before PostgreSQL, and added after it.
 */
export function publishable(wanted: SyncState, replication: readonly ReplicationView[]): SyncState {
  const isWaitedFor = (name: string, state: string): boolean =>
    replication.some((row) => row.application_name === name && row.sync_state === state);
  return {
    synchronous: wanted.synchronous.filter((name) => isWaitedFor(name, 'sync')),
    // Every voter counts in a majority, so all of them are published or none.
    quorum: wanted.quorum.every((name) => isWaitedFor(name, 'quorum')) ? wanted.quorum : [],
  };
}

export function isSameSync(a: SyncState, b: SyncState): boolean {
  return a.synchronous.join() === b.synchronous.join() && a.quorum.join() === b.quorum.join();
}
