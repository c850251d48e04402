// A manager's views as plain values with defaults and small overrides, so that a test names only what it is about.
import type { ClusterView, MemberView, PublishedMember } from '../../../../src/sandbox/manager/view.ts';

export const MB = 1024 * 1024;
export const POSITION = 100 * MB;

export function aPublished(name: string, more: Partial<PublishedMember> = {}): PublishedMember {
  const isLeader = name === 'n1';
  return {
    name,
    apiUrl: `http://127.0.0.1:8008/manager`,
    host: '127.0.0.1',
    port: 5432,
    role: isLeader ? 'primary' : 'replica',
    state: isLeader ? 'running' : 'streaming',
    timeline: 1,
    received: isLeader ? undefined : POSITION,
    replayed: isLeader ? undefined : POSITION,
    lastKnown: undefined,
    tags: {},
    pendingRestart: {},
    scheduledRestart: undefined,
    ...more,
  };
}

export function aCluster(more: Partial<ClusterView> = {}): ClusterView {
  return {
    scope: 'demo',
    leader: 'n1',
    leaderPosition: POSITION,
    members: [aPublished('n1'), aPublished('n2'), aPublished('n3')],
    config: { ttl: 5, loop_wait: 1, retry_timeout: 2, maximum_lag_on_failover: MB },
    history: [],
    switchover: undefined,
    synchronous: [],
    quorum: [],
    ...more,
  };
}

export function aPrimary(more: Partial<MemberView> = {}): MemberView {
  return {
    name: 'n1',
    state: 'running',
    role: 'primary',
    postmasterStartTime: '2026-07-01 12:00:00.000000+00:00',
    serverVersion: 180_004,
    timeline: 1,
    wal: { kind: 'primary', location: POSITION },
    lastKnown: undefined,
    replicationState: undefined,
    replication: [],
    systemIdentifier: '7000000000000000001',
    tags: {},
    pendingRestart: {},
    scheduledRestart: undefined,
    hasLock: true,
    syncRole: undefined,
    heartbeatAgeMs: 100,
    storeSeenAt: 1_795_234_895,
    cluster: aCluster(),
    isFailsafeActive: false,
    ...more,
  };
}

export function aReplica(more: Partial<MemberView> = {}): MemberView {
  return aPrimary({
    name: 'n2',
    role: 'replica',
    wal: aReplicasWal(),
    replicationState: 'streaming',
    hasLock: false,
    ...more,
  });
}

/** The WAL of a replica so far behind the leader's recorded position. */
export function aReplicasWal(behind: { received?: number; replayed?: number } = {}): MemberView['wal'] {
  const { received = 0, replayed = received } = behind;
  return {
    kind: 'replica',
    received: POSITION - received,
    replayed: POSITION - replayed,
    replayedAt: '2026-07-01 12:00:01.000000+00:00',
    isPaused: false,
  };
}
