// The differences between Patroni's health checks and the management API's. captures.test.ts covers the common part
// with real members.
import { describe, expect, test } from 'vitest';
import {
  judgePatroniHealth,
  judgePatroniLiveness,
  judgePatroniReadiness,
} from '../../../../src/sandbox/api/patroni-health.ts';
import type { MemberView } from '../../../../src/sandbox/manager/view.ts';
import { aCluster, aPrimary, aReplica, aReplicasWal, MB } from '../../../support/sandbox/api/views.ts';

const primary = aPrimary();
const replica = aReplica({ tags: { zone: 'eu-1' } });
const lagging = aReplica({ wal: aReplicasWal({ replayed: 3 * MB }) });
const standbyLeader = aReplica({
  hasLock: true,
  role: 'standby_leader',
  cluster: aCluster({ config: { standby_cluster: {} } }),
});

const CASES: readonly (readonly [string, string, MemberView, 200 | 503])[] = [
  ['a primary that shuts down', '/primary', aPrimary({ state: 'stopping', wal: undefined }), 200],
  ['the holder of the lock before its promotion', '/', aReplica({ hasLock: true }), 200],
  ['a substring is enough', '/any/master/path', primary, 200],
  ['a substring is enough', '/primary-of-mine', primary, 200],
  ['the order of the substrings', '/standby-leader', primary, 503],
  ['the order of the substrings', '/standby_leader', standbyLeader, 200],
  ['the order of the substrings', '/leader-or-replica', replica, 503],
  ['the leader of a standby cluster', '/primary', standbyLeader, 503],
  ['the leader of a standby cluster', '/replica', standbyLeader, 503],
  ['the leader of a standby cluster', '/read-only', standbyLeader, 200],
  ['the leader of a standby cluster', '/read-only-sync', standbyLeader, 200],
  [
    'the leader of a standby cluster before it knows',
    '/replica',
    aReplica({ hasLock: true, cluster: aCluster({ config: { standby_cluster: {} } }) }),
    503,
  ],
  ['an asynchronous standby', '/async', replica, 200],
  ['a synchronous standby', '/async', aReplica({ syncRole: 'synchronous' }), 503],
  ['a synchronous standby', '/sync', aReplica({ syncRole: 'synchronous' }), 200],
  ['a quorum standby', '/asynchronous', aReplica({ syncRole: 'quorum' }), 503],
  ['a quorum standby', '/read-only-quorum', aReplica({ syncRole: 'quorum' }), 200],
  ['an alias of its own', '/read-only-synchronous', primary, 200],
  ['an unknown path', '/nothing', primary, 503],
  ['a document by HEAD', '/cluster', primary, 503],
  ['the probes by HEAD', '/liveness', primary, 503],
  ['lag beyond', '/replica?lag=1MB', lagging, 503],
  ['lag within', '/replica?lag=4MB', lagging, 200],
  ['lag counts wherever the replica condition does', '/read-only?lag=1MB', lagging, 503],
  ['lag counts wherever the replica condition does', '/sync?lag=1MB', { ...lagging, syncRole: 'synchronous' }, 503],
  ['a lag that is none', '/replica?lag=much', lagging, 200],
  ['no lag', '/replica?lag=', lagging, 200],
  ['a state that it has', '/replica?replication_state=streaming', replica, 200],
  ['a state that it has not', '/replica?replication_state=streaming', aReplica({ replicationState: undefined }), 503],
  ['an equal tag', '/replica?tag_zone=eu-1', replica, 200],
  ['another tag', '/replica?tag_zone=eu-2', replica, 503],
  ['an empty tag is none', '/replica?tag_zone=', replica, 200],
  ['tags count for a primary', '/read-only?tag_zone=eu-1', primary, 503],
  ['tags do not count for the leader', '/primary?tag_zone=eu-1', primary, 200],
];

test.each(CASES)('%s: %s', (_why, question, member, status) => {
  const [path = '', query] = question.split('?');
  expect(judgePatroniHealth(path, new URLSearchParams(query), member) ? 200 : 503).toBe(status);
});

function ready(query: string, member: MemberView): boolean {
  return judgePatroniReadiness(new URLSearchParams(query), member);
}

describe('/readiness', () => {
  test('maximum_lag_on_failover, lag and mode', () => {
    expect(ready('', lagging)).toBe(false);
    expect(ready('lag=4MB', lagging)).toBe(true);
    expect(ready('lag=much', lagging)).toBe(false);
    expect(ready('mode=write', lagging)).toBe(true);
    expect(ready('mode=nonsense', lagging)).toBe(false);
  });

  test('no tags, no noloadbalance', () => {
    expect(ready('tag_zone=eu-2', aReplica({ tags: { noloadbalance: true } }))).toBe(true);
  });

  test('without a view of the cluster only in failsafe mode', () => {
    expect(ready('', aReplica({ cluster: undefined }))).toBe(false);
    expect(ready('', aReplica({ cluster: undefined, isFailsafeActive: true }))).toBe(true);
  });
});

test('/liveness: a pause makes every answer 200', () => {
  const paused = aCluster({ config: { ttl: 5, pause: true } });
  expect(judgePatroniLiveness(aPrimary({ heartbeatAgeMs: 6_000 }))).toBe(false);
  expect(judgePatroniLiveness(aPrimary({ heartbeatAgeMs: 6_000, cluster: paused }))).toBe(true);
  expect(judgePatroniLiveness(aReplica({ heartbeatAgeMs: 6_000 }))).toBe(true);
});
