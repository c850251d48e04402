// Metrics and log lines of branches.
import { expect, test } from 'vitest';
import type { BranchListStatus } from '../../../src/model/branch.ts';
import type { BranchEvent } from '../../../src/reports/branch-events.ts';
import { createAccessLog } from '../../../src/telemetry/access-log.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { Metrics } from '../../../src/telemetry/metrics.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { NO_COUNTS, aStatusSource } from '../../support/values/status-source.ts';

const LIST: BranchListStatus = { source: 'storage', branches: 12, readAt: 4000, failing: undefined };
const branch = { id: 'br-1', name: 'pr-1' };
const session = { pool: 'branches', session: 7, branch };

function metricsOf(branches: () => BranchListStatus | undefined): Metrics {
  const source = aStatusSource({ now: () => 5000, wallClock: () => 1_700_000_005_000, branches });
  return createMetrics({ version: '1.2.3', nodeVersion: 'v24.0.0', pools: ['write'], ...source });
}

async function samples(metrics: Metrics): Promise<readonly string[]> {
  const lines = withoutScope(await metrics.text()).split('\n');
  return lines.filter((line) => line.startsWith('pointsman_branch') && !/_bucket|_sum| 0$/.test(line));
}

test('without branches there is no metric of branches', async () => {
  expect(await metricsOf(() => undefined).text()).not.toContain('pointsman_branch');
});

test('the list in use: its size, the time of its read, whether it can be read', async () => {
  let list: BranchListStatus | undefined = LIST;
  const metrics = metricsOf(() => list);
  const good = ['pointsman_branches{source="storage"} 12'];
  const read = ['pointsman_branch_list_read_timestamp_seconds{source="storage"} 1700000004'];
  expect(await samples(metrics)).toEqual([...good, ...read]);
  list = { ...LIST, failing: { failure: 'timeout', why: 'no answer within 5 s', since: 4500 } };
  expect(await samples(metrics)).toEqual([...good, ...read, 'pointsman_branch_list_failing{source="storage"} 1']);
  list = { ...LIST, branches: 0, readAt: undefined };
  expect(await samples(metrics)).toEqual([]);
  list = undefined;
  const left = await metrics.text();
  expect(left.split('\n').filter((line) => line.startsWith('pointsman_branches'))).toEqual([]);
});

test('reads, lookups, connects and waits are counted by outcome, and no label names a branch', async () => {
  const metrics = metricsOf(() => undefined);
  const events: readonly BranchEvent[] = [
    { kind: 'branch_list_read', outcome: 'denied', why: 'status 401', branches: 0, durationMs: 20 },
    { kind: 'branch_located', pool: 'branches', session: 7, target: 'pr-1', result: 'unknown', durationMs: 3 },
    { kind: 'branch_dial_finished', ...session, backend: '10.0.0.9:5432', outcome: 'starting', durationMs: 2 },
    { kind: 'branch_wait_ended', ...session, outcome: 'unreachable', attempts: 9, waitedMs: 30_000 },
    { kind: 'branch_shadowed', branch, pool: 'write' },
  ];
  events.forEach((event) => metrics.count(event));
  expect(await samples(metrics)).toEqual([
    'pointsman_branch_list_reads_total{outcome="denied"} 1',
    'pointsman_branch_list_read_duration_seconds_count 1',
    'pointsman_branch_lookups_total{result="unknown"} 1',
    'pointsman_branch_dials_total{outcome="starting"} 1',
    'pointsman_branch_waits_total{outcome="unreachable"} 1',
    'pointsman_branch_wait_duration_seconds_count 1',
  ]);
  expect(await metrics.text()).not.toContain('pr-1');
});

test('the log tells an outage of the list once, and which list stays in use', () => {
  const [kept, none] = EVENT_SAMPLES.branch_list_failed.samples.map((event) => logLine(event, false));
  expect(kept?.level).toBe('warn');
  expect(kept?.text()).toBe(
    'the list of branches cannot be read: connection refused; the last one stays in use (3 branches, 15 s old)',
  );
  expect(none?.text()).toBe(
    'the list of branches cannot be read: connection refused; ' +
      'clients that ask for a branch are refused with 57P03 until it can',
  );
  const [shadowed] = EVENT_SAMPLES.branch_shadowed.samples.map((event) => logLine(event, false).text());
  expect(shadowed).toBe(
    'branch pr-1 has the name of pool read, which wins: reach the branch by its id (app@br-aged-salad)',
  );
});

test('lines of sessions name the branch where others name the member', () => {
  const [, opened] = EVENT_SAMPLES.session_opened.samples;
  const [, closed] = EVENT_SAMPLES.session_closed.samples;
  const lines: [object, string][] = [];
  const access = createAccessLog({ mode: () => 'all', write: (fields, text) => void lines.push([fields, text]) });
  for (const event of [opened, closed].filter((one) => one !== undefined)) {
    expect(logLine(event, false).text()).toContain('branch pr-1');
    access(event);
  }
  expect(lines.map(([, text]) => text)).toEqual([
    'session 7: app@shop from 10.1.1.1:5000, pool branches, branch pr-1: opened',
    expect.stringMatching(/, branch pr-1: closed after/),
  ]);
  expect(lines[0]?.[0]).toMatchObject({ branch: { id: 'br-aged-salad', name: 'pr-1' } });
});

test('sessions of branches are counted, and a client that waits for a branch waits for no member', async () => {
  const states = { ...NO_COUNTS.states, holding: 3, relaying: 2 };
  const counts = () => new Map(['write', 'branches'].map((pool) => [pool, { ...NO_COUNTS, states }]));
  const source = aStatusSource({ now: () => 5000, counts, branches: () => LIST });
  const metrics = createMetrics({ version: '1.2.3', nodeVersion: 'v24.0.0', pools: ['write'], ...source });
  const lines = withoutScope(await metrics.text()).split('\n');
  expect(lines).toContain('pointsman_sessions{pool="branches",state="holding"} 3');
  expect(lines.filter((line) => line.startsWith('pointsman_held_clients{'))).toEqual([
    'pointsman_held_clients{pool="write"} 3',
  ]);
  expect(lines.filter((line) => line.includes('oldest_wait') && line.includes('branches'))).toEqual([]);
});
