// The exposition after given events and for a given table: names, labels, values.
import { describe, expect, test } from 'vitest';
import { CLOSE_REASONS } from '../../../src/model/close-reason.ts';
import type { PoolCounts } from '../../../src/reports/counts.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { Metrics } from '../../../src/telemetry/metrics.ts';
import { aList, aPolicy, isPrimary, isReplica, silent } from '../../support/values/builders.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { NO_COUNTS, aStatusSource, decidedAt, type ScrapeParts } from '../../support/values/status-source.ts';

const policy = aPolicy();
const seen = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 1000), isReplica('pg-2', 1500)];

function metricsWith(source: Partial<ScrapeParts> = {}): Metrics {
  const decided = decidedAt(policy, 2000, ...seen);
  const snapshot = withDrained(decided.snapshot(), 'pg-2', 500);
  const whole = aStatusSource({
    ...decided,
    snapshot: () => snapshot,
    wallClock: () => 1_700_000_002_000,
    ...source,
  });
  return createMetrics({ version: '1.2.3', nodeVersion: 'v24.0.0', pools: ['write', 'read'], ...whole });
}

/** The samples with this prefix in their name, without help and type. */
async function samples(metrics: Metrics, name: string): Promise<readonly string[]> {
  return withoutScope(await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith(name));
}

function sessionClosed(overrides: Partial<Extract<ProxyEvent, { kind: 'session_closed' }>> = {}): ProxyEvent {
  return {
    kind: 'session_closed',
    pool: 'write',
    session: 1,
    member: 'pg-1',
    client: 'c',
    reason: 'client_closed',
    detail: undefined,
    durationMs: 500,
    toBackendBytes: 0,
    toClientBytes: 0,
    ...overrides,
  };
}

describe('at the scrape', () => {
  test('standings, routes and ages, of one table', async () => {
    const metrics = metricsWith();
    expect(await samples(metrics, 'pointsman_member_standing')).toEqual([
      'pointsman_member_standing{pool="write",member="pg-1",standing="open"} 1',
      'pointsman_member_standing{pool="write",member="pg-1",standing="keep"} 0',
      'pointsman_member_standing{pool="write",member="pg-1",standing="leave"} 0',
      'pointsman_member_standing{pool="write",member="pg-2",standing="open"} 0',
      'pointsman_member_standing{pool="write",member="pg-2",standing="keep"} 0',
      'pointsman_member_standing{pool="write",member="pg-2",standing="leave"} 1',
      'pointsman_member_standing{pool="read",member="pg-1",standing="open"} 0',
      'pointsman_member_standing{pool="read",member="pg-1",standing="keep"} 0',
      'pointsman_member_standing{pool="read",member="pg-1",standing="leave"} 1',
      'pointsman_member_standing{pool="read",member="pg-2",standing="open"} 1',
      'pointsman_member_standing{pool="read",member="pg-2",standing="keep"} 0',
      'pointsman_member_standing{pool="read",member="pg-2",standing="leave"} 0',
    ]);
    const ofPools = await samples(metrics, 'pointsman_pool_');
    expect(ofPools.filter((line) => /_(?:route|active|members)\{/.test(line))).toEqual([
      'pointsman_pool_route{pool="write",route="open"} 1',
      'pointsman_pool_route{pool="write",route="hold"} 0',
      'pointsman_pool_route{pool="write",route="closed"} 0',
      'pointsman_pool_route{pool="read",route="open"} 1',
      'pointsman_pool_route{pool="read",route="hold"} 0',
      'pointsman_pool_route{pool="read",route="closed"} 0',
      'pointsman_pool_fallback_active{pool="write"} 0',
      'pointsman_pool_fallback_active{pool="read"} 0',
      'pointsman_pool_lagging_active{pool="write"} 0',
      'pointsman_pool_lagging_active{pool="read"} 0',
      'pointsman_pool_open_members{pool="write"} 1',
      'pointsman_pool_open_members{pool="read"} 1',
    ]);
    expect(await samples(metrics, 'pointsman_member_last_answer_timestamp_seconds')).toEqual([
      'pointsman_member_last_answer_timestamp_seconds{member="pg-1"} 1700000001',
      'pointsman_member_last_answer_timestamp_seconds{member="pg-2"} 1700000001.5',
    ]);
    expect(await samples(metrics, 'pointsman_member_drained')).toEqual([
      'pointsman_member_drained{member="pg-1"} 0',
      'pointsman_member_drained{member="pg-2"} 1',
      'pointsman_member_drained_timestamp_seconds{member="pg-2"} 1700000000.5',
    ]);
    expect(await samples(metrics, 'pointsman_members ')).toEqual(['pointsman_members 2']);
    expect(await samples(metrics, 'pointsman_first_round_complete')).toEqual(['pointsman_first_round_complete 1']);
  });

  test('a pool reports its fallback', async () => {
    const metrics = metricsWith(decidedAt(policy, 2000, aList(0, 'pg-1'), isPrimary('pg-1', 1000)));
    expect(await samples(metrics, 'pointsman_pool_fallback_active')).toContain(
      'pointsman_pool_fallback_active{pool="read"} 1',
    );
  });

  test('sessions, holds, accepted and bytes by count: totals never add up twice', async () => {
    const counts: PoolCounts = {
      ...NO_COUNTS,
      states: { startup: 1, holding: 2, dialing: 3, relaying: 4, closing: 5 },
      members: new Map([['pg-1', 7]]),
      fallbackSessions: 6,
      accepted: 20,
      toBackendBytes: 100,
      toClientBytes: 200,
    };
    const metrics = metricsWith({ counts: () => new Map([['write', counts]]) });
    await metrics.text();
    expect(await samples(metrics, 'pointsman_sessions{')).toEqual([
      'pointsman_sessions{pool="write",state="startup"} 1',
      'pointsman_sessions{pool="write",state="holding"} 2',
      'pointsman_sessions{pool="write",state="dialing"} 3',
      'pointsman_sessions{pool="write",state="relaying"} 4',
      'pointsman_sessions{pool="write",state="closing"} 5',
    ]);
    expect(await samples(metrics, 'pointsman_member_sessions')).toEqual([
      'pointsman_member_sessions{pool="write",member="pg-1"} 7',
    ]);
    expect(await samples(metrics, 'pointsman_held_clients{')).toEqual(['pointsman_held_clients{pool="write"} 2']);
    expect(await samples(metrics, 'pointsman_pool_fallback_sessions{')).toEqual([
      'pointsman_pool_fallback_sessions{pool="write"} 6',
    ]);
    expect(await samples(metrics, 'pointsman_listener_accepted_total')).toEqual([
      'pointsman_listener_accepted_total{pool="write"} 20',
    ]);
    expect(await samples(metrics, 'pointsman_relayed_bytes_total')).toEqual([
      'pointsman_relayed_bytes_total{pool="write",direction="to_backend"} 100',
      'pointsman_relayed_bytes_total{pool="write",direction="to_client"} 200',
    ]);
  });

  test('G21: the table is read once, so that all samples agree', async () => {
    let reads = 0;
    const decided = decidedAt(policy, 2000, ...seen);
    const table = (): RoutingTable => {
      reads += 1;
      return decided.table();
    };
    await metricsWith({ ...decided, table }).text();
    expect(reads).toBe(1);
  });
});

describe('by event', () => {
  test('every close reason is there from the start', async () => {
    const closes = await samples(metricsWith(), 'pointsman_sessions_closed_total{pool="write"');
    expect(closes).toHaveLength(Object.keys(CLOSE_REASONS).length);
    expect(closes.every((line) => line.endsWith(' 0'))).toBe(true);
  });

  test('a close counts by pool and reason, and its length is measured', async () => {
    const metrics = metricsWith();
    metrics.count(sessionClosed({ reason: 'evicted_dead' }));
    expect(await samples(metrics, 'pointsman_sessions_closed_total{pool="write",reason="evicted_dead"}')).toEqual([
      'pointsman_sessions_closed_total{pool="write",reason="evicted_dead"} 1',
    ]);
    expect(await samples(metrics, 'pointsman_session_duration_seconds_sum')).toContain(
      'pointsman_session_duration_seconds_sum{pool="write"} 0.5',
    );
  });

  test('holds by outcome, with their waits', async () => {
    const metrics = metricsWith();
    metrics.count({ kind: 'hold_ended', pool: 'read', session: 1, outcome: 'gave_up', waitedMs: 2500 });
    expect(await samples(metrics, 'pointsman_holds_ended_total{pool="read"')).toEqual([
      'pointsman_holds_ended_total{pool="read",outcome="released"} 0',
      'pointsman_holds_ended_total{pool="read",outcome="timeout"} 0',
      'pointsman_holds_ended_total{pool="read",outcome="gave_up"} 1',
      'pointsman_holds_ended_total{pool="read",outcome="refused"} 0',
    ]);
    expect(await samples(metrics, 'pointsman_hold_duration_seconds_sum{pool="read"}')).toEqual([
      'pointsman_hold_duration_seconds_sum{pool="read"} 2.5',
    ]);
  });

  test('probes and dials by member and outcome, with their duration', async () => {
    const metrics = metricsWith();
    metrics.count({
      kind: 'probe_finished',
      member: 'pg-1',
      check: '/',
      outcome: 'yes',
      detail: undefined,
      durationMs: 4,
    });
    metrics.count({
      kind: 'dial_finished',
      pool: 'write',
      session: 1,
      member: 'pg-2',
      outcome: 'refused',
      durationMs: 2,
    });
    expect(await samples(metrics, 'pointsman_probes_total')).toEqual([
      'pointsman_probes_total{member="pg-1",outcome="yes"} 1',
    ]);
    expect(await samples(metrics, 'pointsman_probe_duration_seconds_sum')).toEqual([
      'pointsman_probe_duration_seconds_sum{member="pg-1"} 0.004',
    ]);
    expect(await samples(metrics, 'pointsman_dials_total')).toEqual([
      'pointsman_dials_total{member="pg-2",outcome="refused"} 1',
    ]);
  });

  test('a member that left the cluster leaves no series behind', async () => {
    const metrics = metricsWith();
    metrics.count({
      kind: 'probe_finished',
      member: 'gone',
      check: '/',
      outcome: 'yes',
      detail: undefined,
      durationMs: 4,
    });
    metrics.count({
      kind: 'probe_finished',
      member: 'gone',
      check: '/',
      outcome: 'no',
      detail: undefined,
      durationMs: 4,
    });
    metrics.count({
      kind: 'dial_finished',
      pool: 'write',
      session: 1,
      member: 'gone',
      outcome: 'failed',
      durationMs: 2,
    });
    expect(await metrics.text()).not.toContain('gone');
  });

  test('discovery: outcomes from the start, a time only after a success', async () => {
    let now = 1000;
    const metrics = metricsWith({ now: () => now, wallClock: () => 1_700_000_000_000 + now });
    const discovered = (detail: string | undefined): void =>
      metrics.count({ kind: 'discovery_finished', source: 'a', detail, members: 1, durationMs: 20 });
    discovered('nobody answers');
    expect(await samples(metrics, 'pointsman_discovery_last_success_timestamp_seconds')).toEqual([]);
    discovered(undefined);
    now = 4000;
    discovered('nobody answers');
    expect(await samples(metrics, 'pointsman_discovery_last_success_timestamp_seconds')).toEqual([
      'pointsman_discovery_last_success_timestamp_seconds 1700000001',
    ]);
    expect(await samples(metrics, 'pointsman_discoveries_total')).toEqual([
      'pointsman_discoveries_total{outcome="found"} 1',
      'pointsman_discoveries_total{outcome="failed"} 2',
    ]);
  });

  test.each([
    [{ kind: 'urgent_probing', on: true, triggers: [] }, 'pointsman_urgent_probing 1'],
    [
      { kind: 'cancel_forwarded', pool: 'read', key: 'known', members: ['a'] },
      'pointsman_cancels_forwarded_total{pool="read",key="known"} 1',
    ],
    [{ kind: 'listener_failed', pool: 'read', detail: 'x' }, 'pointsman_listener_failures_total{pool="read"} 1'],
    [
      { kind: 'route_changed', pool: 'read', from: undefined, to: { kind: 'closed' } },
      'pointsman_pool_route_changes_total{pool="read"} 1',
    ],
  ] as const)('%j', async (event, expected) => {
    const metrics = metricsWith();
    metrics.count(event);
    expect(withoutScope(await metrics.text())).toContain(`${expected}\n`);
  });
});

describe('the exposition', () => {
  test('the build of the program, and the state of the process', async () => {
    const text = withoutScope(await metricsWith().text());
    expect(text).toContain('pointsman_build_info{version="1.2.3",node_version="v24.0.0"} 1');
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  });

  test('names keep the conventions: a prefix, totals for counters, no unit but seconds and bytes', async () => {
    const text = await metricsWith().text();
    const types = text.split('\n').flatMap((line) => {
      const [, name, type] = /^# TYPE (pointsman_\w+) (\w+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, type] as const];
    });
    expect(types.length).toBeGreaterThan(20);
    for (const [name, type] of types) {
      expect(`${name} ${name.endsWith('_total')}`).toBe(`${name} ${type === 'counter'}`);
      expect(name).not.toMatch(/_(?:ms|millis|milliseconds|kb|mb)(?:_|$)/);
    }
  });

  test('two programs in one process do not share a registry', async () => {
    const [one, other] = [metricsWith(), metricsWith()];
    one.count(sessionClosed());
    expect(await samples(other, 'pointsman_sessions_closed_total{pool="write",reason="client_closed"}')).toEqual([
      'pointsman_sessions_closed_total{pool="write",reason="client_closed"} 0',
    ]);
  });

  test('a silent member is still shown', async () => {
    const metrics = metricsWith(decidedAt(policy, 2000, aList(0, 'pg-9'), silent({ member: 'pg-9', at: 1000 })));
    expect(await samples(metrics, 'pointsman_member_standing{pool="write",member="pg-9"')).toHaveLength(3);
  });
});
