// Plain data for the tests of the managers: an ordinary cluster of three for variations, and a server that is none.
import type { Situation } from '../../../../src/sandbox/manager/decide.ts';
import { readSettings } from '../../../../src/sandbox/manager/cluster-settings.ts';
import type { PostgresServer } from '../../../../src/sandbox/postgres/postgres-server.ts';
import type { ClusterView, PublishedMember, ReplicationView } from '../../../../src/sandbox/manager/view.ts';

export function aMember(name: string, changes: Partial<PublishedMember> = {}): PublishedMember {
  return {
    name,
    apiUrl: `http://127.0.0.1/${name}`,
    host: '127.0.0.1',
    port: 5432,
    role: 'replica',
    state: 'streaming',
    timeline: 1,
    received: 1000,
    replayed: 1000,
    lastKnown: undefined,
    tags: {},
    pendingRestart: {},
    scheduledRestart: undefined,
    ...changes,
  };
}

export function aCluster(changes: Partial<ClusterView> = {}): ClusterView {
  return {
    scope: 'sandbox',
    leader: 'pg-1',
    leaderPosition: 1000,
    members: [aMember('pg-1', { role: 'primary', state: 'running' }), aMember('pg-2'), aMember('pg-3')],
    config: {},
    history: [],
    switchover: undefined,
    synchronous: [],
    quorum: [],
    ...changes,
  };
}

/** A replica that streams from pg-1. */
export function aSituation(changes: Partial<Situation> = {}): Situation {
  const pg1 = { host: '127.0.0.1', port: 5431 };
  return {
    me: 'pg-2',
    lock: { kind: 'held', by: 'pg-1', address: pg1 },
    server: 'standby',
    wasPrimary: false,
    upstream: pg1,
    failedStarts: 0,
    hasDiverged: false,
    notStreamingMs: 0,
    settings: readSettings({}),
    switchover: undefined,
    isSwitchoverDue: false,
    ...changes,
  };
}

export function aStandby(name: string, changes: Partial<ReplicationView> = {}): ReplicationView {
  return {
    usename: 'postgres',
    application_name: name,
    client_addr: '127.0.0.1',
    state: 'streaming',
    sync_state: 'async',
    sync_priority: 0,
    ...changes,
  };
}

const nothing = (): Promise<void> => Promise.resolve();

/** It is stopped, answers no query, and does nothing. */
export function aServer(changes: Partial<PostgresServer> = {}): PostgresServer {
  return {
    name: 'pg-2',
    host: '127.0.0.1',
    port: 5432,
    dataDirectory: '/nowhere',
    isAlive: () => false,
    start: () => Promise.resolve({ kind: 'started' }),
    stop: nothing,
    promote: nothing,
    configure: nothing,
    follow: nothing,
    rebuildFrom: nothing,
    query: () => Promise.reject(new Error('no')),
    kill: nothing,
    cutStreams: nothing,
    delayReplay: nothing,
    freeze: nothing,
    thaw: nothing,
    onExit: () => () => {},
    close: nothing,
    ...changes,
  };
}
