// The lines and the metrics about a reload, and about the findings of a start.
import { expect, test } from 'vitest';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aStatusSource } from '../../support/values/status-source.ts';

function metrics() {
  const source = aStatusSource();
  const metrics = createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source });
  return { ...metrics, text: async () => withoutScope(await metrics.text()) };
}

test.each([
  [['probe.interval 1s -> 2s', 'listeners'], [], 'info', 'configuration reloaded: probe.interval 1s -> 2s, listeners'],
  [[], [], 'info', 'configuration reloaded: no changes'],
  [[], ['log.format'], 'warn', 'configuration reloaded: no changes; needs a restart: log.format'],
])('changed %j, needs a restart %j', (changed, needsRestart, level, text) => {
  const line = logLine({ kind: 'config_reloaded', changed, needsRestart }, true);
  expect({ level: line.level, text: line.text() }).toEqual({ level, text });
});

test('a failed reload is an error with its reason', () => {
  const { level, text } = logLine(
    { kind: 'config_reload_failed', problems: ['p.yaml:1: bad', 'p.yaml:2: worse'] },
    true,
  );
  expect(level).toBe('error');
  expect(text()).toBe('configuration reload failed, nothing changed: p.yaml:1: bad; p.yaml:2: worse');
});

test('the gauge has the last result, the counter the number of reloads', async () => {
  const { count, text } = metrics();
  expect(await text()).toContain('pointsman_config_last_reload_successful 1\n');
  expect(await text()).toContain('pointsman_config_reloads_total{outcome="applied"} 0\n');
  count({ kind: 'config_reload_failed', problems: ['bad'] });
  expect(await text()).toContain('pointsman_config_last_reload_successful 0\n');
  count({ kind: 'config_reloaded', changed: [], needsRestart: [] });
  const exposition = await text();
  expect(exposition).toContain('pointsman_config_last_reload_successful 1\n');
  expect(exposition).toContain('pointsman_config_reloads_total{outcome="applied"} 1\n');
  expect(exposition).toContain('pointsman_config_reloads_total{outcome="failed"} 1\n');
});

test('a later pool has its series from then on; a known one keeps its counts', async () => {
  const { count, learn, text } = metrics();
  count({ kind: 'cancel_forwarded', pool: 'write', key: 'unknown', members: [] });
  learn(['write', 'reports']);
  const exposition = await text();
  expect(exposition).toContain('pointsman_cancels_forwarded_total{pool="write",key="unknown"} 1\n');
  expect(exposition).toContain('pointsman_cancels_forwarded_total{pool="reports",key="known"} 0\n');
});

test('the gauge reports the relay in use', async () => {
  const { count, text } = metrics();
  count({ kind: 'relay_chosen', isOn: true });
  expect(await text()).toContain('pointsman_relay_direct 1\n');
  count({ kind: 'relay_chosen', isOn: false, why: 'relay is streams' });
  expect(await text()).toContain('pointsman_relay_direct 0\n');
});
