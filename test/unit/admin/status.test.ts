// The status document agrees with the table, the snapshot and the counts that it is made from.
import { describe, expect, test } from 'vitest';
import { buildStatus, type StatusDocumentOptions } from '../../../src/admin/status.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import type { PoolCounts } from '../../../src/reports/counts.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { describeStanding } from '../../../src/core/describe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import {
  aList,
  aMember,
  aPolicy,
  aPool,
  aSnapshot,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  MB,
  silent,
} from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const policy = aPolicy();
const NOW = 4000;

function statusOf(observations: readonly Observation[], inputs: Partial<StatusDocumentOptions> = {}): StatusDocument {
  const snapshot = aSnapshot(policy, ...observations);
  const table = decideRoutes(policy, snapshot, NOW);
  return buildStatus({
    ...STATUS_BASICS,
    version: '1.2.3',
    startedAt: 1000,
    now: NOW,
    readiness: { ready: true },
    pools: policy.pools,
    table,
    snapshot,
    counts: new Map(),
    ...inputs,
  });
}

const both = [
  aList(0, 'pg-1', aMember('pg-2', { postgres: { host: 'fd00::2', port: 5432 }, origin: 'discovered' })),
  isPrimary('pg-1', 3000, { pause: true, systemIdentifier: '71' }),
  isReplica('pg-2', 3500, { failsafe: true, clusterUnlocked: true, pendingRestart: true }),
];

const COUNTS: PoolCounts = {
  states: { startup: 0, holding: 1, dialing: 0, relaying: 2, closing: 0 },
  members: new Map([['pg-1', 2]]),
  fallbackSessions: 0,
  laggingSessions: 0,
  started: 0,
  accepted: 9,
  closed: 6,
  toBackendBytes: 10,
  toClientBytes: 20,
};

const ROUTED = { place: { sign: 'routed', word: 'routed' }, standing: 'open' };

test('the document lists the workers if there are any', () => {
  const worker = { number: 1, restarts: 2, sessions: 3, cpuSeconds: 1.23456, residentBytes: 5e7 };
  const workers = [
    { ...worker, pid: 50, isReady: true, startedAt: 1500 },
    { ...worker, number: 2, pid: undefined, isReady: false, startedAt: undefined },
  ];
  const shown = { restarts: 2, sessions: 3, cpu_seconds: 1.235, resident_memory_bytes: 5e7 };
  expect(statusOf([], { workers }).workers).toEqual([
    { worker: 1, pid: 50, ready: true, uptime_seconds: 2.5, ...shown },
    { worker: 2, pid: null, ready: false, uptime_seconds: null, ...shown },
  ]);
  expect(statusOf([])).not.toHaveProperty('workers');
});

test('the list of branches with the sessions on them, only where branches are configured', () => {
  const branches = { source: 'console', branches: 12, readAt: 1000, failing: undefined } as const;
  const counts = new Map([['branches', { ...COUNTS, members: new Map() }]]);
  expect(statusOf([], { branches, counts }).branches).toMatchObject({
    source: 'console',
    branches: 12,
    age_seconds: 3,
    failing: null,
    sessions: { by_state: { relaying: 2, holding: 1 }, by_member: {}, accepted: 9 },
  });
  expect(statusOf([], { branches }).branches).toMatchObject({ sessions: null });
  expect(statusOf([], { counts })).not.toHaveProperty('branches');
});

describe('status', () => {
  test('the source of the contact points, and the time since it last gave a new answer', () => {
    const contactPoints = [{ host: 'fd00::1', port: 8008 }];
    const sources = [
      { name: 'http://pg:8008', contactPoints, failing: undefined },
      { name: 'http+srv://a', contactPoints, failing: { why: 'ETIMEOUT', since: NOW - 1500 } },
      { name: 'http+srv://b', contactPoints: [], failing: { why: 'ENOTFOUND', since: undefined } },
    ];
    expect(statusOf(both, { sources }).cluster.contact_sources).toEqual([
      { source: 'http://pg:8008', contact_points: ['[fd00::1]:8008'] },
      {
        source: 'http+srv://a',
        contact_points: ['[fd00::1]:8008'],
        failing: { for_seconds: 1.5, why: 'ETIMEOUT' },
      },
      { source: 'http+srv://b', contact_points: [], failing: { why: 'ENOTFOUND' } },
    ]);
    expect(statusOf(both).cluster).not.toHaveProperty('contact_sources');
  });

  test('the cluster and the program', () => {
    const { members: _, pools: __, notices: ___, ...rest } = statusOf(both);
    expect(rest).toEqual({
      refused_members: [],
      version: '1.2.3',
      time: '2026-01-01T00:00:00.000Z',
      started_at: '2025-12-31T23:59:57.000Z',
      config: { source: 'pointsman.yaml', hash: '0123456789abcdef', loaded_at: '2026-01-01T00:00:00.000Z' },
      limits: {
        max_sessions: 10_000,
        max_sessions_per_address: null,
        max_handshakes: null,
        max_waiting_clients: 1000,
        client_wait_seconds: 30,
        park_seconds: null,
        outage_seconds: 60,
        max_connects_per_second: 100,
      },
      recent_events: [],
      uptime_seconds: 3,
      ready: true,
      cluster: {
        scope: 'lab',
        system_identifier: '71',
        timeline: 1,
        first_round_complete: true,
        primary: null,
        last_interruption: null,
        drained: [],
        scheduled_switchover: null,
      },
    });
  });

  test('the operator overrides: drained members, a switchover to come and none that is past', () => {
    const at = (switchover: { at: number; leader: string }) =>
      statusOf([{ ...aList(0, 'pg-1', 'pg-2'), switchover }, ...both.slice(1)]).cluster.scheduled_switchover;
    expect(at({ at: NOW + 90_000, leader: 'pg-1' })).toEqual({ in_seconds: 90, from: 'pg-1' });
    expect(at({ at: NOW - 1, leader: 'pg-1' })).toBeNull();
    const snapshot = withDrained(withDrained(aSnapshot(policy, ...both), 'pg-2', 1000), 'pg-9', 1000);
    const handover = {
      operation: 'switchover',
      member: 'pg-1',
      phase: 'drain',
      since: NOW - 2000,
      mostMs: 9000,
      transactionMs: 1,
    } as const;
    expect(statusOf(both, { snapshot: { ...snapshot, handover } }).cluster.handover).toEqual({
      operation: 'switchover',
      member: 'pg-1',
      phase: 'drain',
      for_seconds: 2,
    });
    const { cluster, members } = statusOf(both, { snapshot, table: decideRoutes(policy, snapshot, NOW) });
    expect(cluster.drained).toEqual(['pg-2', 'pg-9']);
    expect(members.map(({ name, drained }) => [name, drained])).toEqual([
      ['pg-1', undefined],
      ['pg-2', { for_seconds: 3 }],
    ]);
  });

  test('the reason for not being ready', () => {
    const { ready, not_ready_because: why } = statusOf(both, { readiness: { ready: false, why: 'shutting down' } });
    expect([ready, why]).toEqual([false, 'shutting down']);
  });

  test('every member with its standing in every pool', () => {
    const asPrimary = { weight: 1, zone: null, far: false, answered: { status: 200, check: '/primary' } };
    const asReplica = { ...asPrimary, answered: { status: 200, check: '/replica?lag=16MB' } };
    expect(statusOf(both).members).toEqual([
      {
        name: 'pg-1',
        api: 'http://pg-1:8008',
        postgres: 'pg-1:5432',
        origin: 'configured',
        role: 'primary',
        role_text: 'primary',
        state: 'running',
        timeline: 1,
        paused: true,
        cluster_unlocked: false,
        failsafe: false,
        pending_restart: false,
        lag_bytes: null,
        staleness_seconds: null,
        last_answer_age_seconds: 1,
        pools: {
          write: { ...ROUTED, ...asPrimary, why: 'answered 200 to /primary 1 s ago; no rival on timeline 1' },
          read: {
            place: { sign: 'eligible', word: 'fallback only' },
            standing: 'leave',
            ...asPrimary,
            cause: 'fallback_over',
            why:
              'fallback, used only while the pool has no other eligible member: pool write; ' +
              'answered 200 to /primary 1 s ago',
          },
        },
      },
      {
        name: 'pg-2',
        api: 'http://pg-2:8008',
        postgres: '[fd00::2]:5432',
        origin: 'discovered',
        role: 'replica',
        role_text: 'replica',
        state: 'running',
        timeline: 1,
        paused: false,
        cluster_unlocked: true,
        failsafe: true,
        pending_restart: true,
        lag_bytes: 0,
        staleness_seconds: 0,
        last_answer_age_seconds: 0.5,
        pools: {
          write: {
            place: { sign: 'idle', word: 'is a replica' },
            standing: 'leave',
            ...asReplica,
            cause: 'not_primary',
            why: 'is a replica; answered 200 to /replica?lag=16MB 500 ms ago',
          },
          read: {
            ...ROUTED,
            ...asReplica,
            why: 'answered 200 to /replica?lag=16MB 500 ms ago; estimated lag 0 B (limit 16 MB)',
          },
        },
      },
    ]);
  });

  test('a silent member: the start of its silence, in the words that clients read', () => {
    const observations = [aList(0, 'pg-1'), isPrimary('pg-1', 1000), silent({ at: 2500 })];
    const [member] = statusOf(observations).members;
    expect(member).toMatchObject({
      last_answer_age_seconds: 3,
      failing: { for_seconds: 1.5, outcome: 'no answer within 800 ms' },
    });
    const table = decideRoutes(policy, aSnapshot(policy, ...observations), NOW);
    const standing = table.pools.get('write')?.standings.get('pg-1');
    expect(member?.pools['write']?.why).toBe(standing && describeStanding(standing, NOW));
  });

  test('a member without any evidence yet', () => {
    const [member] = statusOf([aList(0, aMember('pg-1', { postgres: undefined }))]).members;
    expect(member).toMatchObject({
      postgres: null,
      role: null,
      timeline: null,
      last_answer_age_seconds: null,
      pools: { write: { why: 'no answer yet' } },
    });
  });

  test('pools with their routes', () => {
    expect(
      statusOf(both).pools.map(({ name, check, exclusive, route }) => ({ name, check, exclusive, route })),
    ).toEqual([
      {
        name: 'write',
        check: '/primary',
        exclusive: true,
        route: { kind: 'open', members: [{ name: 'pg-1', address: 'pg-1:5432' }], fallback: null },
      },
      {
        name: 'read',
        check: '/replica?lag=16MB',
        exclusive: false,
        route: { kind: 'open', members: [{ name: 'pg-2', address: '[fd00::2]:5432' }], fallback: null },
      },
    ]);
  });

  test('a fallback in use, its start, and the held clients', () => {
    const counts = new Map([['read', { ...COUNTS, degradedSince: NOW - 2500 }]]);
    const [, read] = statusOf([aList(0, 'pg-1'), isPrimary('pg-1', 3000)], { counts }).pools;
    expect(read?.route).toMatchObject({
      kind: 'open',
      fallback: { pool: 'write', max_sessions: 50, for_seconds: 2.5 },
    });
    const [write] = statusOf([]).pools;
    expect(write?.route).toEqual({ kind: 'hold', cause: 'starting' });
  });

  test('G6: every member lags and one is used all the same', () => {
    const pools = [aWritePool(), aPool({ whenAllLagging: 'least_lagging', maxLaggingSessions: 7 })];
    const late = [3600, 3700].map((at) => isReplica('pg-2', at, { replayed: 10 * MB }));
    const table = aTable(aPolicy({ pools }), NOW, ...both, ...late);
    const [, read] = statusOf([], { pools, table }).pools;
    expect(read?.route).toMatchObject({ kind: 'open', fallback: null, lagging: { max_sessions: 7 } });
  });

  test('the weight of each member, far members, and members in slow start', () => {
    const policy = { ...aPolicy({ pools: [aWritePool(), aPool({ weightTag: 'lb', zoneTag: 'az' })] }), zone: 'a' };
    const tags = new Map([
      ['lb', '3'],
      ['az', 'b'],
    ]);
    const table = aTable(
      policy,
      NOW,
      aList(0, 'pg-1', 'pg-2'),
      isPrimary('pg-1', 3000),
      isReplica('pg-2', 3500, { tags }),
    );
    const counts = new Map([['read', { ...COUNTS, ramping: new Map([['pg-2', 0.25]]) }]]);
    const [, read] = statusOf([], { pools: policy.pools, table, counts }).pools;
    expect(read?.route).toMatchObject({ members: [{ name: 'pg-2', weight: 3, far: true }] });
    expect(read?.sessions).toMatchObject({ slow_start: { 'pg-2': 0.25 } });
  });

  test('sessions by count', () => {
    const [write, read] = statusOf(both, { counts: new Map([['write', COUNTS]]) }).pools;
    expect(write?.sessions).toEqual({
      by_state: COUNTS.states,
      by_member: { 'pg-1': 2 },
      by_fallback: 0,
      accepted: 9,
      closed: 6,
      to_backend_bytes: 10,
      to_client_bytes: 20,
    });
    expect(read?.sessions).toBeNull();
  });
});
