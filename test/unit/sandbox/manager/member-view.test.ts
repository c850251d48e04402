import { describe, expect, it } from 'vitest';
import { memberView, publishedMember } from '../../../../src/sandbox/manager/member-view.ts';
import type { MemberKnowledge } from '../../../../src/sandbox/manager/view.ts';
import type { PostgresReport } from '../../../../src/sandbox/manager/postgres-report.ts';
import { aCluster } from './lab.ts';

const STANDBY: PostgresReport = {
  isInRecovery: true,
  postmasterStartTime: '2026-07-01 10:00:00.000000+00:00',
  serverVersion: 180_004,
  timeline: 2,
  wal: { kind: 'replica', received: 900, replayed: 800, replayedAt: undefined, isPaused: false },
  isStreaming: true,
  replication: [],
  pendingRestart: {},
};
const PRIMARY: PostgresReport = {
  ...STANDBY,
  isInRecovery: false,
  isStreaming: false,
  wal: { kind: 'primary', location: 1000 },
};

function facts(changes: Partial<MemberKnowledge> = {}): MemberKnowledge {
  return {
    name: 'pg-2',
    apiUrl: 'http://127.0.0.1/manager',
    host: '127.0.0.1',
    port: 5432,
    systemIdentifier: '7',
    tags: {},
    state: 'running',
    role: 'replica',
    hasLock: false,
    scheduledRestart: undefined,
    heartbeatAgeMs: 0,
    storeSeenAt: 0,
    cluster: aCluster(),
    isFailsafeActive: false,
    lastKnown: undefined,
    ...changes,
  };
}

describe('the role', () => {
  it('follows PostgreSQL, whichever member has the lock', () => {
    expect(memberView(facts({ hasLock: true }), STANDBY).role).toBe('replica');
    expect(memberView(facts(), PRIMARY).role).toBe('primary');
  });

  it('is the manager’s own value while PostgreSQL does not answer', () => {
    expect(memberView(facts({ role: 'demoted', state: 'stopping' }), undefined).role).toBe('demoted');
    expect(memberView(facts({ role: 'primary', state: 'crashed' }), undefined).role).toBe('primary');
  });

  it('is standby_leader with the lock of a standby cluster', () => {
    const cluster = aCluster({ config: { standby_cluster: { host: '10.0.0.1' } } });
    expect(memberView(facts({ hasLock: true, cluster }), STANDBY).role).toBe('standby_leader');
    expect(memberView(facts({ cluster }), STANDBY).role).toBe('replica');
  });
});

it('is unknown if it should run and does not answer', () => {
  expect(memberView(facts(), undefined).state).toBe('unknown');
  expect(memberView(facts({ state: 'starting' }), undefined).state).toBe('starting');
  expect(memberView(facts(), STANDBY)).toMatchObject({ state: 'running', replicationState: 'streaming' });
});

it('publishes a streaming replica as such, with its positions, and a leader as running', () => {
  expect(publishedMember(facts(), STANDBY)).toMatchObject({ state: 'streaming', received: 900, replayed: 800 });
  expect(publishedMember(facts(), { ...STANDBY, isStreaming: false }).state).toBe('running');
  const leader = publishedMember(facts({ hasLock: true, role: 'primary' }), PRIMARY);
  expect(leader).toMatchObject({ state: 'running', role: 'primary', timeline: 2, received: undefined });
});

function syncRoleIn(cluster: MemberKnowledge['cluster']) {
  return memberView(facts({ cluster }), STANDBY).syncRole;
}

it('has the synchronous role that the leader published', () => {
  expect(syncRoleIn(aCluster({ synchronous: ['pg-2'] }))).toBe('synchronous');
  expect(syncRoleIn(aCluster({ quorum: ['pg-2', 'pg-3'] }))).toBe('quorum');
  expect(syncRoleIn(aCluster({ synchronous: ['pg-3'] }))).toBeUndefined();
  expect(syncRoleIn(undefined)).toBeUndefined();
});
