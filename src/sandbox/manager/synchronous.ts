// Which standbys the leader waits for, and how PostgreSQL is told. Pure.
import type { SyncState } from './store.ts';
import type { ClusterSettings, ClusterView, ReplicationView } from './view.ts';

const NOBODY: SyncState = { synchronous: [], quorum: [] };

/** Only members that stream and have no `nosync` tag; who was chosen stays chosen. */
export function chooseSynchronous(
  mode: ClusterSettings['synchronousMode'],
  replication: readonly ReplicationView[],
  cluster: ClusterView,
): SyncState {
  if (mode === 'off') return NOBODY;
  const able = replication
    .filter((row) => row.state === 'streaming')
    .map((row) => row.applicationName)
    .filter((name) => cluster.members.some((member) => member.name === name && !member.tags['nosync']))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (mode === 'quorum') return { synchronous: [], quorum: able };
  const chosen = able.find((name) => cluster.synchronous.includes(name)) ?? able[0];
  return chosen === undefined ? NOBODY : { synchronous: [chosen], quorum: [] };
}

/** Value of synchronous_standby_names. */
export function standbyNames({ synchronous, quorum }: SyncState): string {
  if (synchronous.length > 0) return `FIRST 1 (${quoted(synchronous)})`;
  return quorum.length > 0 ? `ANY 1 (${quoted(quorum)})` : '';
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(',');
}

/**
 * What may be published now: a name once PostgreSQL waits for it, never longer than it does. Who is published may be elected, so a
 * name goes from the store before it goes from PostgreSQL, and comes after.
 */
export function publishable(wanted: SyncState, replication: readonly ReplicationView[]): SyncState {
  const isWaitedFor = (name: string, state: string): boolean =>
    replication.some((row) => row.applicationName === name && row.syncState === state);
  return {
    synchronous: wanted.synchronous.filter((name) => isWaitedFor(name, 'sync')),
    // Every voter counts in a majority: all of them, or not yet.
    quorum: wanted.quorum.every((name) => isWaitedFor(name, 'quorum')) ? wanted.quorum : [],
  };
}

export function isSameSync(a: SyncState, b: SyncState): boolean {
  return a.synchronous.join() === b.synchronous.join() && a.quorum.join() === b.quorum.join();
}
