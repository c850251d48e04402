// The documents. Pointsman's own readers find the same facts in them.
import { describe, expect, test } from 'vitest';
import { parseClusterDocument, parseHistory } from '../../../support/patroni/parse.ts';
import type { DocumentMember } from '../../../../src/patroni/cluster-document.ts';
import { formatLsn, parseLsn } from '../../../../src/model/lsn.ts';
import { parseNodeStatus } from '../../../support/patroni/parse.ts';
import { clusterDocument, historyDocument } from '../../../../src/sandbox/api/cluster-document.ts';
import { dialectOf } from '../../../../src/sandbox/api/dialect.ts';
import { nodeDocument } from '../../../../src/sandbox/api/node-document.ts';
import type { ClusterView, MemberView } from '../../../../src/sandbox/manager/view.ts';
import { aCluster, aPrimary, aPublished, aReplica, aReplicasWal } from '../../../support/sandbox/api/views.ts';
import { MB, POSITION } from '../../../support/sandbox/api/views.ts';

const ABOUT = { version: '1.2.3', scope: 'demo', name: 'n1' };
const MANAGER = dialectOf('manager');
const PATRONI = dialectOf('patroni');

const sender = {
  usename: 'replicator',
  application_name: 'n2',
  client_addr: '127.0.0.1',
  state: 'streaming',
  sync_state: 'async',
  sync_priority: 0,
};

describe('node status document', () => {
  test('of a primary, every field of the management API', () => {
    const member = aPrimary({ replication: [sender], tags: { zone: 'eu-1' } });
    expect(nodeDocument(member, ABOUT, MANAGER)).toEqual({
      state: 'running',
      postmaster_start_time: '2026-07-01 12:00:00.000000+00:00',
      role: 'primary',
      server_version: 180_004,
      xlog: { location: POSITION },
      timeline: 1,
      replication: [
        {
          usename: 'replicator',
          application_name: 'n2',
          client_addr: '127.0.0.1',
          state: 'streaming',
          sync_state: 'async',
          sync_priority: 0,
        },
      ],
      dcs_last_seen: 1_795_234_895,
      tags: { zone: 'eu-1' },
      database_system_identifier: '7000000000000000001',
      manager: { version: '1.2.3', scope: 'demo', name: 'n1' },
    });
  });

  test('tags and replication are always in the management API, and left out by Patroni if they are empty', () => {
    expect(nodeDocument(aPrimary(), ABOUT, MANAGER)).toMatchObject({ tags: {}, replication: [] });
    const patroni = nodeDocument(aPrimary(), ABOUT, PATRONI);
    expect(patroni).not.toHaveProperty('tags');
    expect(patroni).not.toHaveProperty('replication');
    expect(patroni['patroni']).toEqual(ABOUT);
    expect(patroni).not.toHaveProperty('manager');
  });

  test('without PostgreSQL: the management API has its last answer, Patroni only the manager’s own facts', () => {
    const member = aReplica({
      state: 'stopped',
      postmasterStartTime: undefined,
      serverVersion: undefined,
      timeline: undefined,
      wal: undefined,
      replicationState: undefined,
    });
    const keys = ['state', 'role', 'dcs_last_seen', 'database_system_identifier', 'patroni'];
    expect(Object.keys(nodeDocument(member, ABOUT, PATRONI))).toEqual(keys);
    const { state: _, role, ...known } = nodeDocument(aReplica(), ABOUT, MANAGER);
    const { postmasterStartTime = '', serverVersion = 0, timeline = 0, wal } = aReplica();
    if (wal === undefined) throw new Error('no positions');
    const lastKnown = { postmasterStartTime, serverVersion, timeline, wal };
    const { replication_state: __, ...stated } = known;
    expect(nodeDocument({ ...member, lastKnown }, ABOUT, MANAGER)).toEqual({ ...stated, state: 'stopped', role });
    expect(nodeDocument({ ...member, lastKnown }, ABOUT, PATRONI)).not.toHaveProperty('xlog');
  });

  const INDICATORS: readonly (readonly [string, MemberView, Record<string, true>])[] = [
    ['ordinary', aPrimary(), {}],
    ['unlocked', aPrimary({ cluster: aCluster({ leader: undefined }) }), { cluster_unlocked: true }],
    ['no picture yet', aPrimary({ cluster: undefined }), { cluster_unlocked: true }],
    ['paused', aPrimary({ cluster: aCluster({ config: { pause: true } }) }), { pause: true }],
    ['failsafe', aPrimary({ isFailsafeActive: true }), { failsafe_mode_is_active: true }],
  ];
  test.each(INDICATORS)('indicators only when true: %s', (_name, member, expected) => {
    const document = nodeDocument(member, ABOUT, MANAGER);
    const shown = ['pause', 'cluster_unlocked', 'failsafe_mode_is_active'].filter((key) => key in document);
    expect(Object.fromEntries(shown.map((key) => [key, document[key]]))).toEqual(expected);
  });

  test('in failsafe mode Patroni also reports that the lock is not visible', () => {
    const document = nodeDocument(aPrimary({ isFailsafeActive: true }), ABOUT, PATRONI);
    expect(document).toMatchObject({ cluster_unlocked: true, failsafe_mode_is_active: true });
  });

  test('pending and scheduled restarts', () => {
    const member = aReplica({
      pendingRestart: { max_connections: { old_value: '100', new_value: '200' } },
      scheduledRestart: {
        schedule: '2030-01-01T00:00:00+00:00',
        postmaster_start_time: 'then',
        role: 'replica',
        restart_pending: true,
        postgres_version: '18.5',
        timeout: 60,
      },
    });
    expect(nodeDocument(member, ABOUT, MANAGER)).toMatchObject({
      pending_restart: true,
      pending_restart_reason: { max_connections: { old_value: '100', new_value: '200' } },
      scheduled_restart: {
        restart_pending: true,
        role: 'replica',
        postgres_version: '18.5',
        timeout: 60,
        schedule: '2030-01-01T00:00:00+00:00',
      },
    });
  });

  test.each([MANAGER, PATRONI])('our reader finds the same facts in it: $name', (dialect) => {
    const member = aReplica({ tags: { zone: 'eu-1', noloadbalance: true }, syncRole: 'synchronous' });
    const parsed = parseNodeStatus(JSON.stringify(nodeDocument(member, { ...ABOUT, name: 'n2' }, dialect)));
    expect(parsed).toEqual({
      kind: 'status',
      status: {
        role: 'replica',
        state: 'running',
        timeline: 1,
        ...(dialect === MANAGER ? { location: POSITION } : {}),
        received: POSITION,
        replayed: POSITION,
        replicationState: 'streaming',
        tags: new Map([
          ['zone', 'eu-1'],
          ['noloadbalance', 'true'],
        ]),
        noloadbalance: true,
        isSynchronous: true,
        scope: 'demo',
        name: 'n2',
        systemIdentifier: '7000000000000000001',
        startedAt: '2026-07-01 12:00:00.000000+00:00',
        storeSeenAt: member.storeSeenAt,
        dialect: dialect.name,
      },
    });
  });

  test('a primary is read back with its position, a quorum standby as one', () => {
    const primary = parseNodeStatus(JSON.stringify(nodeDocument(aPrimary(), ABOUT, MANAGER)));
    expect(primary).toMatchObject({ status: { role: 'primary', location: POSITION } });
    const quorum = nodeDocument(aReplica({ syncRole: 'quorum' }), ABOUT, MANAGER);
    expect(quorum).toMatchObject({ quorum_standby: true });
  });
});

describe('cluster document', () => {
  const lagging = aPublished('n3', { received: POSITION - MB, replayed: POSITION - 3 * MB, tags: { zone: 'eu-2' } });
  const cluster = aCluster({ members: [lagging, aPublished('n1'), aPublished('n2')], synchronous: ['n2'] });

  test('of a leader, a synchronous standby and a lagging replica', () => {
    expect(clusterDocument(cluster, MANAGER)).toEqual({
      scope: 'demo',
      members: [
        {
          name: 'n1',
          role: 'leader',
          state: 'running',
          api_url: 'http://127.0.0.1:8008/manager',
          host: '127.0.0.1',
          port: 5432,
          timeline: 1,
        },
        expect.objectContaining({ name: 'n2', role: 'sync_standby', state: 'streaming', lag: 0, lsn: '0/6400000' }),
        {
          name: 'n3',
          role: 'replica',
          state: 'streaming',
          api_url: 'http://127.0.0.1:8008/manager',
          host: '127.0.0.1',
          port: 5432,
          timeline: 1,
          tags: { zone: 'eu-2' },
          receive_lag: MB,
          receive_lsn: '0/6300000',
          replay_lag: 3 * MB,
          replay_lsn: '0/6100000',
          lag: MB,
          lsn: '0/6300000',
        },
      ],
    });
  });

  test('api_url is the path of the node status document in the own dialect', () => {
    const [first] = parseMembers(clusterDocument(cluster, PATRONI));
    expect(first?.apiUrl).toBe('http://127.0.0.1:8008/patroni');
  });

  test('roles: quorum standby, leader of a standby cluster, no leader', () => {
    expect(roles({ quorum: ['n2', 'n3'] })).toEqual(['leader', 'quorum_standby', 'quorum_standby']);
    expect(roles({ config: { standby_cluster: {} } })).toEqual(['standby_leader', 'replica', 'replica']);
    expect(roles({ leader: undefined })).toEqual(['replica', 'replica', 'replica']);
  });

  test('Patroni writes the word unknown for unknown facts of a replica', () => {
    const stopped = aPublished('n2', {
      state: 'stopped',
      timeline: undefined,
      received: undefined,
      replayed: undefined,
    });
    const document = clusterDocument(aCluster({ members: [stopped] }), PATRONI);
    expect(document['members']).toEqual([
      {
        name: 'n2',
        role: 'replica',
        state: 'stopped',
        api_url: 'http://127.0.0.1:8008/patroni',
        host: '127.0.0.1',
        port: 5432,
        receive_lag: 'unknown',
        receive_lsn: 'unknown',
        replay_lag: 'unknown',
        replay_lsn: 'unknown',
        lag: 'unknown',
        lsn: 'unknown',
      },
    ]);
    const noLeader = clusterDocument(aCluster({ leaderPosition: undefined }), PATRONI);
    const replica = { lag: 'unknown', replay_lag: 'unknown', replay_lsn: formatLsn(POSITION) };
    expect(noLeader).toMatchObject({ members: [{}, replica, {}] });
  });

  test('a replica ahead of the leader’s recorded position has no lag', () => {
    const ahead = aPublished('n2', { received: POSITION + MB, replayed: POSITION + MB });
    const replica = { lag: 0, receive_lag: 0, replay_lag: 0, replay_lsn: formatLsn(POSITION + MB) };
    expect(clusterDocument(aCluster({ members: [ahead] }), MANAGER)).toMatchObject({ members: [replica] });
  });

  test('pause and a scheduled switchover only if present', () => {
    expect(Object.keys(clusterDocument(cluster, MANAGER))).toEqual(['members', 'scope']);
    const now = aCluster({ switchover: { from: 'n1', to: 'n2', at: undefined } });
    expect(clusterDocument(now, MANAGER)).not.toHaveProperty('scheduled_switchover');
    const planned = aCluster({
      config: { pause: true },
      switchover: { from: 'n1', to: undefined, at: '2030-01-01T00:00:00+00:00' },
    });
    expect(clusterDocument(planned, MANAGER)).toMatchObject({
      pause: true,
      scheduled_switchover: { at: '2030-01-01T00:00:00+00:00', from: 'n1' },
    });
  });

  test('our reader finds the same facts in it', () => {
    const read = parseClusterDocument(JSON.stringify(clusterDocument(cluster, MANAGER)));
    expect(read).toMatchObject({ kind: 'cluster', cluster: { scope: 'demo', pause: false, skipped: [] } });
    expect(parseMembers(clusterDocument(cluster, MANAGER))[2]).toMatchObject({ name: 'n3', role: 'replica' });
  });
});

function parseMembers(document: unknown): readonly DocumentMember[] {
  const read = parseClusterDocument(JSON.stringify(document));
  if (read.kind !== 'cluster') throw new Error(read.why);
  return read.cluster.members;
}

function roles(more: Partial<ClusterView>): readonly string[] {
  return parseMembers(clusterDocument(aCluster(more), MANAGER)).map(({ role }) => role);
}

test('history: five positions, or four while the new leader is unknown', () => {
  const reason = 'no recovery target specified';
  const entry = { timeline: 1, endedAt: 83_185_840, reason, createdAt: '2026-07-01T12:00:00+00:00', newLeader: 'n2' };
  const document = historyDocument([entry, { ...entry, timeline: 2, newLeader: '' }]);
  expect(document).toEqual([
    [1, 83_185_840, reason, '2026-07-01T12:00:00+00:00', 'n2'],
    [2, 83_185_840, reason, '2026-07-01T12:00:00+00:00'],
  ]);
  expect(parseHistory(JSON.stringify(document))).toEqual({
    kind: 'history',
    skipped: 0,
    entries: [
      { timeline: 1, lsn: 83_185_840, reason, at: '2026-07-01T12:00:00+00:00', newLeader: 'n2' },
      { timeline: 2, lsn: 83_185_840, reason, at: '2026-07-01T12:00:00+00:00' },
    ],
  });
});

test.each([0, 1, 83_185_840, 2 ** 32, 2 ** 40 + 0x1234, Number.MAX_SAFE_INTEGER])('LSN of %i and back', (position) => {
  expect(parseLsn(formatLsn(position))).toBe(position);
});

test('a replica that has no wal view has no positions in either document', () => {
  expect(nodeDocument(aReplica({ wal: aReplicasWal() }), ABOUT, PATRONI)).toHaveProperty('xlog.replayed_timestamp');
  expect(nodeDocument(aReplica({ wal: undefined }), ABOUT, PATRONI)).not.toHaveProperty('xlog');
});
