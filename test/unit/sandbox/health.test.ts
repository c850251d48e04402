import { expect, it } from 'vitest';
import { whyUnhealthy } from '../../../src/sandbox/health.ts';
import type { MemberView } from '../../../src/sandbox/manager/view.ts';

function aView(name: string, changes: Partial<MemberView> = {}): MemberView {
  return {
    name,
    state: 'running',
    role: 'replica',
    postmasterStartTime: undefined,
    serverVersion: 180_004,
    timeline: 2,
    wal: undefined,
    lastKnown: undefined,
    replicationState: 'streaming',
    replication: [],
    systemIdentifier: '1',
    tags: {},
    pendingRestart: {},
    scheduledRestart: undefined,
    hasLock: false,
    syncRole: undefined,
    heartbeatAgeMs: 0,
    storeSeenAt: 0,
    cluster: undefined,
    isFailsafeActive: false,
    ...changes,
  };
}

const LEADER = aView('pg-1', { role: 'primary', hasLock: true, replicationState: undefined });

it('is complete if one primary leads and every other member streams from it on its timeline', () => {
  expect(whyUnhealthy([LEADER, aView('pg-2')], false)).toBeUndefined();
  expect(whyUnhealthy([LEADER], false)).toBeUndefined();
});

it.each([
  ['a manager does not answer', [LEADER, undefined]],
  ['no member has the leader lock', [aView('pg-2')]],
  ['pg-1 and pg-2 both have the leader lock', [LEADER, { ...LEADER, name: 'pg-2' }]],
  ['the leader pg-1 is replica', [{ ...LEADER, role: 'replica' as const }]],
  ['pg-2 is primary without the lock', [LEADER, aView('pg-2', { role: 'primary' })]],
  ['pg-2 is crashed', [LEADER, aView('pg-2', { state: 'crashed' })]],
  ['pg-2 does not stream', [LEADER, aView('pg-2', { replicationState: undefined })]],
  ['pg-2 is on another timeline', [LEADER, aView('pg-2', { timeline: 1 })]],
])('is incomplete: %s', (why, views) => {
  expect(whyUnhealthy(views, false)).toBe(why);
});

it('has a standby leader in a standby cluster', () => {
  const standbyLeader = { ...LEADER, role: 'standby_leader' as const };
  expect(whyUnhealthy([standbyLeader, aView('pg-2')], true)).toBeUndefined();
  expect(whyUnhealthy([LEADER, aView('pg-2')], true)).toBe('the leader pg-1 is primary');
});
