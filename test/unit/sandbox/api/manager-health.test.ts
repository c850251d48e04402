// The health checks of the management API, every endpoint in every situation. A table lists each 200; every other
// answer is 503.
import { describe, expect, test } from 'vitest';
import { isHealthPath, judgeHealth } from '../../../../src/sandbox/api/manager-health.ts';
import type { MemberView } from '../../../../src/sandbox/manager/view.ts';
import { aCluster, aPrimary, aReplica, aReplicasWal, MB } from '../../../support/sandbox/api/views.ts';

const PATHS = [
  '/',
  '/primary',
  '/read-write',
  '/leader',
  '/standby-leader',
  '/replica',
  '/read-only',
  '/synchronous',
  '/sync',
  '/read-only-sync',
  '/quorum',
  '/read-only-quorum',
  '/asynchronous',
  '/async',
  '/health',
  '/readiness',
];

const WRITES = ['/', '/primary', '/read-write'];
const READ_ONLY = ['/read-only', '/read-only-sync', '/read-only-quorum'];
const standbyCluster = aCluster({ config: { standby_cluster: { host: '127.0.0.1', port: 5432 } } });

const SITUATIONS: readonly (readonly [string, MemberView, readonly string[]])[] = [
  ['a primary', aPrimary(), [...WRITES, ...READ_ONLY, '/leader', '/health', '/readiness']],
  ['a primary that lost its lock', aPrimary({ hasLock: false }), ['/health']],
  [
    'a primary that shuts down with its lock',
    aPrimary({ state: 'stopping', wal: undefined }),
    ['/leader', '/readiness'],
  ],
  [
    'the holder of the lock that is not promoted yet',
    aReplica({ hasLock: true }),
    ['/leader', '/replica', '/read-only', '/asynchronous', '/async', '/health', '/readiness'],
  ],
  [
    'the leader of a standby cluster',
    aReplica({ hasLock: true, role: 'standby_leader', cluster: standbyCluster }),
    ['/leader', '/standby-leader', '/health', '/readiness'],
  ],
  [
    'a primary whose cluster is to be a standby cluster',
    aPrimary({ cluster: standbyCluster }),
    [...WRITES, ...READ_ONLY, '/leader', '/health', '/readiness'],
  ],
  ['a replica', aReplica(), ['/replica', '/read-only', '/asynchronous', '/async', '/health', '/readiness']],
  [
    'a replica of a standby cluster',
    aReplica({ cluster: standbyCluster }),
    ['/replica', '/read-only', '/asynchronous', '/async', '/health', '/readiness'],
  ],
  [
    'a synchronous standby',
    aReplica({ syncRole: 'synchronous' }),
    ['/replica', '/read-only', '/synchronous', '/sync', '/read-only-sync', '/health', '/readiness'],
  ],
  [
    'a quorum standby',
    aReplica({ syncRole: 'quorum' }),
    ['/replica', '/read-only', '/quorum', '/read-only-quorum', '/health', '/readiness'],
  ],
  ['a replica that is not to take reads', aReplica({ tags: { noloadbalance: true } }), ['/health', '/readiness']],
  [
    'a synchronous standby that is not to take reads',
    aReplica({ syncRole: 'synchronous', tags: { noloadbalance: true } }),
    ['/health', '/readiness'],
  ],
  [
    'a replica that does not stream',
    aReplica({ replicationState: undefined }),
    ['/replica', '/read-only', '/asynchronous', '/async', '/health'],
  ],
  ['a replica whose PostgreSQL is stopped', aReplica({ state: 'stopped', wal: undefined }), []],
  ['a replica whose PostgreSQL does not answer', aReplica({ state: 'unknown', wal: undefined }), []],
  ['a demoted leader', aReplica({ role: 'demoted', state: 'stopping', wal: undefined }), []],
];

const verdict = (question: string, member: MemberView): string => {
  const [path = '', query] = question.split('?');
  return judgeHealth(path, new URLSearchParams(query), member).kind;
};

describe.each(SITUATIONS)('%s', (_name, member, yes) => {
  test.each(PATHS)('%s', (path) => {
    expect(verdict(path, member)).toBe(yes.includes(path) ? 'yes' : 'no');
  });
});

test('these and /liveness are the only health checks', () => {
  for (const path of [...PATHS, '/liveness']) expect(isHealthPath(path)).toBe(true);
  for (const path of ['/manager', '/patroni', '/cluster', '/master', '/replica/', '/Replica', '/health/', '']) {
    expect(isHealthPath(path)).toBe(false);
  }
});

describe('noloadbalance', () => {
  const cases = [
    [true, 'no'],
    ['true', 'no'],
    ['false', 'no'],
    [1, 'no'],
    [false, 'yes'],
    ['', 'yes'],
    [0, 'yes'],
  ] as const;
  test.each(cases)('%j: /replica is %s', (value, expected) => {
    expect(verdict('/replica', aReplica({ tags: { noloadbalance: value } }))).toBe(expected);
  });
});

describe('lag', () => {
  const lagging = aReplica({ wal: aReplicasWal({ received: 0, replayed: 3 * MB }) });

  describe.each(['/replica', '/asynchronous', '/async', '/readiness'])('%s', (path) => {
    const cases = [
      ['0', 'no'],
      ['3145727', 'no'],
      ['3145728', 'yes'],
      ['3071kB', 'no'],
      ['3072kB', 'yes'],
      ['3MB', 'yes'],
      ['2.9MB', 'no'],
      ['1GB', 'yes'],
      ['1TB', 'yes'],
      ['', 'invalid'],
      ['16mb', 'invalid'],
      ['16PB', 'invalid'],
      ['-1', 'invalid'],
      ['much', 'invalid'],
      ['1.5', 'invalid'],
    ] as const;
    test.each(cases)('lag=%s: %s', (lag, expected) => {
      expect(verdict(`${path}?lag=${lag}`, lagging)).toBe(expected);
    });

    test('without a recorded position of the leader every replica passes', () => {
      const member = { ...lagging, cluster: aCluster({ leaderPosition: undefined }) };
      expect(verdict(`${path}?lag=0`, member)).toBe('yes');
      expect(verdict(`${path}?lag=0`, { ...lagging, cluster: undefined })).toBe('yes');
    });

    test('a replica without a known position has unlimited lag', () => {
      expect(verdict(`${path}?lag=99MB`, aReplica({ wal: undefined }))).toBe('no');
    });

    test('a replica ahead of the leader’s recorded position has no lag', () => {
      expect(verdict(`${path}?lag=0`, aReplica({ wal: aReplicasWal({ replayed: -MB, received: -MB }) }))).toBe('yes');
    });
  });

  test.each(['/read-only', '/health', '/leader', '/primary', '/synchronous', '/quorum'])('%s takes none', (path) => {
    const leader = path === '/leader' || path === '/primary';
    const sync = { '/synchronous': 'synchronous', '/quorum': 'quorum' } as const;
    const syncRole = path === '/synchronous' || path === '/quorum' ? sync[path] : undefined;
    const member = leader ? aPrimary() : { ...lagging, syncRole };
    expect(verdict(`${path}?lag=0`, member)).toBe('yes');
    expect(verdict(`${path}?lag=much`, member)).toBe('yes');
  });

  test('only the first of two counts', () => {
    expect(verdict('/replica?lag=1MB&lag=1GB', lagging)).toBe('no');
  });
});

describe('/readiness', () => {
  const lagging = aReplica({ wal: aReplicasWal({ received: 512 * 1024, replayed: 3 * MB }) });
  const cases = [
    ['/readiness', 'no'],
    ['/readiness?mode=apply', 'no'],
    ['/readiness?mode=write', 'yes'],
    ['/readiness?mode=write&lag=256kB', 'no'],
    ['/readiness?lag=4MB', 'yes'],
    ['/readiness?lag=4MB&mode=apply', 'yes'],
    ['/readiness?mode=read', 'invalid'],
  ] as const;
  test.each(cases)('%s with maximum_lag_on_failover 1 MB: %s', (question, expected) => {
    expect(verdict(question, lagging)).toBe(expected);
  });

  test('the default threshold is maximum_lag_on_failover', () => {
    const config = { maximum_lag_on_failover: 3 * MB };
    expect(verdict('/readiness', { ...lagging, cluster: aCluster({ config }) })).toBe('yes');
  });

  test('a leader is always ready', () => {
    expect(verdict('/readiness?lag=0', aPrimary({ state: 'starting', wal: undefined }))).toBe('yes');
  });
});

describe('tag_<key>', () => {
  const tagged = aReplica({ tags: { zone: 'eu-1', archive: true, shelf: 7, Mixed: 'Case', share: 0.5 } });
  const FILTERED = ['/replica', '/read-only', '/asynchronous', '/async', '/health', '/readiness'];
  const cases = [
    ['tag_zone=eu-1', 'yes'],
    ['tag_zone=eu-2', 'no'],
    ['tag_zone=EU-1', 'no'],
    ['tag_zone=', 'no'],
    ['tag_archive=true', 'yes'],
    ['tag_archive=True', 'no'],
    ['tag_archive=false', 'no'],
    ['tag_shelf=7', 'yes'],
    ['tag_share=0.5', 'yes'],
    ['tag_Mixed=Case', 'yes'],
    ['tag_mixed=Case', 'no'],
    ['tag_room=1', 'no'],
    ['tag___proto__=[object object]', 'no'],
    ['zone=eu-2', 'yes'],
    ['tag_zone=eu-1&tag_shelf=7', 'yes'],
    ['tag_zone=eu-1&tag_shelf=8', 'no'],
  ] as const;
  describe.each(FILTERED)('%s', (path) => {
    test.each(cases)('%s: %s', (query, expected) => expect(verdict(`${path}?${query}`, tagged)).toBe(expected));
  });

  test.each(['/', '/primary', '/read-write', '/leader'])('ignored by %s', (path) => {
    expect(verdict(`${path}?tag_zone=nowhere`, aPrimary())).toBe('yes');
  });

  test('ignored by /standby-leader', () => {
    const leader = aReplica({ hasLock: true, role: 'standby_leader', cluster: standbyCluster });
    expect(verdict('/standby-leader?tag_zone=nowhere', leader)).toBe('yes');
  });

  test.each(['/read-only', '/read-only-sync', '/health'])('filters a primary at %s', (path) => {
    expect(verdict(`${path}?tag_zone=nowhere`, aPrimary())).toBe('no');
  });

  test('with a lag both must hold', () => {
    expect(verdict('/replica?lag=1MB&tag_zone=eu-1', tagged)).toBe('yes');
    expect(verdict('/replica?lag=1MB&tag_zone=eu-2', tagged)).toBe('no');
    const lagging = { ...tagged, wal: aReplicasWal({ received: 2 * MB }) };
    expect(verdict('/replica?lag=1MB&tag_zone=eu-1', lagging)).toBe('no');
  });
});

describe('/liveness', () => {
  const cases = [
    ['primary', 5_000, 'yes'],
    ['primary', 5_001, 'no'],
    ['replica', 10_000, 'yes'],
    ['replica', 10_001, 'no'],
    ['standby_leader', 10_000, 'yes'],
    ['demoted', 10_001, 'no'],
  ] as const;
  test.each(cases)('%s, last heartbeat %i ms ago, ttl 5 s: %s', (role, heartbeatAgeMs, expected) => {
    expect(verdict('/liveness', aPrimary({ role, heartbeatAgeMs }))).toBe(expected);
  });

  test('a pause makes no difference', () => {
    const cluster = aCluster({ config: { ttl: 5, pause: true } });
    expect(verdict('/liveness', aPrimary({ cluster, heartbeatAgeMs: 6_000 }))).toBe('no');
  });

  test('tags count', () => {
    const member = aPrimary({ tags: { zone: 'eu-1' } });
    expect(verdict('/liveness?tag_zone=eu-1', member)).toBe('yes');
    expect(verdict('/liveness?tag_zone=eu-2', member)).toBe('no');
  });
});
