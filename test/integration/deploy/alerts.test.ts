// The alerts use metrics that the program exposes, Prometheus's own tool accepts them, each of them fires when it
// should and is silent otherwise, and each has its heading in the runbook.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { CLOSE_REASONS } from '../../../src/model/close-reason.ts';
import { ALERT_CASES, site, withoutScope } from '../../support/deploy/monitoring/alert-cases.ts';
import type { AlertCase, Series, Site } from '../../support/deploy/monitoring/alert-cases.ts';
import { missingPromtool } from '../../support/deploy/monitoring/promtool.ts';
import {
  ALERTS,
  KUSTOMIZED,
  kustomizedRules,
  readAlerts,
  readRecordings,
  RECORDINGS,
} from '../../support/deploy/monitoring/rules.ts';
import { documents } from '../../support/documents/markdown.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const run = promisify(execFile);
const [alerts, recordings] = await Promise.all([readAlerts(), readRecordings()]);

/** The names of the metrics in an expression, each with the labels that the expression uses. */
function wantedBy(expr: string): readonly { readonly metric: string; readonly labels: readonly string[] }[] {
  return [...expr.matchAll(/\b((?:pointsman|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)!?=~?"/g)].map(([, label = '']) => label),
    }),
  );
}

test('every metric and label that an alert uses is exposed', async () => {
  const pointsman = await startPointsman({
    // No member answers there, so the process stays not ready. It declares every metric all the same.
    cluster: { scope: 'demo', seeds: ['http://127.0.0.1:1'] },
    client: { tls: { mode: 'terminate', ...SERVER } },
    branches: { source: 'static', static: { 'pr-1': '127.0.0.1:1' } },
    moves: { roles: ['app'] },
    questions: { user: 'pointsman_monitor' },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
    log: { format: 'json' },
  });
  try {
    const { text } = await pointsman.admin('/metrics');
    const declared = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const { alert, expr } of alerts) {
      const wanted = wantedBy(expr);
      expect(wanted.length, alert).toBeGreaterThan(0);
      for (const { metric } of wanted) expect(declared, alert).toContain(metric);
    }
    // Metrics that have samples before the first member must have the labels too.
    for (const { metric, labels } of alerts.flatMap(({ expr }) => wantedBy(expr))) {
      const sample = text.split('\n').find((line) => line.startsWith(`${metric}{`));
      if (sample === undefined) continue;
      for (const label of labels) expect(sample).toContain(`${label}="`);
    }
    const [, reasons = ''] = /reason=~"([^"]+)"/.exec(alerts.map(({ expr }) => expr).join('\n')) ?? [];
    for (const reason of reasons.split('|')) expect(Object.keys(CLOSE_REASONS)).toContain(reason);
  } finally {
    await pointsman.stop();
  }
});

test('each alert has a heading in the runbook and links to it, and each heading has an alert', () => {
  const page = documents().find(({ file }) => file === 'deploy/runbook.md');
  const headings = page?.prose.flatMap((line) => /^## (.*)$/.exec(line)?.slice(1) ?? []);
  expect(headings).toEqual(alerts.map(({ alert }) => alert));
  expect(alerts.map(({ annotations }) => annotations.runbook_url)).toEqual(
    alerts.map(({ alert }) => `deploy/runbook.md#${alert.toLowerCase()}`),
  );
  for (const section of page?.text.split(/^## /m).slice(1) ?? []) {
    for (const part of ['**Impact.**', '**Look at**', '**Do.**']) expect(section, section).toContain(part);
  }
});

test('the PrometheusRule of the kustomization is made of them, by npm run monitoring', async () => {
  expect(await readFile(KUSTOMIZED, 'utf8')).toBe(await kustomizedRules());
});

test('every recording rule has a case below, and every case a rule', () => {
  expect(RECORDING_CASES.map(({ record }) => record)).toEqual(recordings.map(({ record }) => record));
});

test('every alert has a case below, and every case an alert', () => {
  expect(Object.keys(ALERT_CASES)).toEqual(alerts.map(({ alert }) => alert));
});

const [BATMAN, ROBIN] = [site('batman'), site('robin')];

/** Every Pointsman tells its version and its cluster. */
function withInfos(series: readonly Series[], sites: readonly Site[]): readonly Series[] {
  const infos = sites.flatMap(({ targets }) =>
    targets.flatMap((target) => [
      { series: `pointsman_cluster_info{${target},system_identifier="7"}`, values: '1x400' },
      { series: `pointsman_build_info{${target},version="1",node_version="24"}`, values: '1x400' },
    ]),
  );
  const own = new Set(series.map((one) => one.series));
  return [...series, ...infos.filter((one) => !own.has(one.series))];
}

/** The series ALERTS of Prometheus for this alert while it fires. */
function firing(name: string, { of, labels = {} }: AlertCase, one: Site): unknown {
  const { scope, targets } = of === 'target' ? withoutScope(one) : one;
  const severity = alerts.find(({ alert }) => alert === name)?.labels.severity;
  const own = Object.entries({ ...labels, alertname: name, alertstate: 'firing', severity });
  const where = of === 'cluster' ? `namespace="d",job="j",scope="${scope}"` : targets[0];
  return { labels: `ALERTS{${where},${own.map(([key, value]) => `${key}="${value}"`).join(',')}}`, value: 1 };
}

/** One Pointsman of the two of batman has no route half of the time, and its primary changed once; robin is well. */
const RECORDED: readonly Series[] = [
  ...[
    [BATMAN.targets[0], '0+30x400'],
    [BATMAN.targets[1], '0x400'],
    [ROBIN.targets[0], '0x400'],
    [ROBIN.targets[1], '0x400'],
  ].map(([target, values = '']) => ({
    series: `pointsman_pool_no_route_seconds_total{${target},pool="write",cause="no_member"}`,
    values,
  })),
  // Both Pointsmen were started, which is no outage, and both count the same change.
  ...BATMAN.targets.flatMap((target) => [
    { series: `pointsman_pool_no_route_seconds_total{${target},pool="write",cause="starting"}`, values: '0+60x400' },
    { series: `pointsman_primary_changes_total{${target},kind="failover"}`, values: '0x90 1x310' },
  ]),
];

const AVAILABLE = 'scope_pool:pointsman_pool_available';
const CHANGES = 'scope:pointsman_primary_changes';

interface RecordingCase {
  readonly record: string;
  readonly atMinute: number;
  /** Rounded to two digits; undefined where there is no series. */
  readonly batman: number;
  readonly robin?: number;
}

/** The first rates of a history have fewer samples, so 30 days show a little more than an hour. */
const RECORDING_CASES: readonly RecordingCase[] = [
  { record: `${AVAILABLE}:ratio5m`, atMinute: 92, batman: 0.75, robin: 1 },
  { record: `${AVAILABLE}:ratio1h`, atMinute: 92, batman: 0.75, robin: 1 },
  { record: `${AVAILABLE}:ratio30d`, atMinute: 92, batman: 0.76, robin: 1 },
  { record: `${CHANGES}:increase5m`, atMinute: 92, batman: 1 },
  { record: `${CHANGES}:increase1h`, atMinute: 92, batman: 1 },
  { record: `${CHANGES}:increase30d`, atMinute: 120, batman: 1 },
];

function recorded({ record, atMinute, batman, robin }: RecordingCase): unknown {
  const own = record.startsWith(AVAILABLE) ? 'pool="write"' : 'kind="failover"';
  const sample = ({ scope }: Site, value: number | undefined): readonly object[] =>
    value === undefined ? [] : [{ labels: `{namespace="d",job="j",scope="${scope}",${own}}`, value }];
  const exp_samples = [...sample(BATMAN, batman), ...sample(ROBIN, robin)];
  return { expr: `round(${record}, 0.01)`, eval_time: `${atMinute}m`, exp_samples };
}

describeUnless(missingPromtool, 'with promtool', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-alerts-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('Prometheus accepts them', async () => {
    await run('promtool', ['check', 'rules', '--lint-fatal', ALERTS, RECORDINGS]);
  });

  async function tested(name: string, rules: string, tests: readonly unknown[]): Promise<string> {
    const file = join(directory, `${name}.yaml`);
    await writeFile(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    return run('promtool', ['test', 'rules', file]).then(
      () => 'as expected',
      (error: unknown) => (error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)),
    );
  }

  test('recording rules: availability and changes of each cluster in one job', async () => {
    const tests = [{ interval: '1m', input_series: RECORDED, promql_expr_test: RECORDING_CASES.map(recorded) }];
    expect(await tested('recordings', RECORDINGS, tests)).toBe('as expected');
  });

  test.each(Object.entries(ALERT_CASES))('%s fires for its cluster alone, and not before', async (name, one) => {
    const { sick, healthy, firesAt, isSilentAt } = one;
    const expr = `ALERTS{alertname="${name}",alertstate="firing"}`;
    const at = (minutes: number, ...sites: readonly Site[]) => ({
      expr,
      eval_time: `${minutes}m`,
      exp_samples: sites.map((each) => firing(name, one, each)),
    });
    const isAlsoSilent = isSilentAt === undefined ? [] : [at(isSilentAt)];
    const group = (series: readonly Series[], ...questions: readonly unknown[]) => ({
      interval: '1m',
      input_series: withInfos(series, [BATMAN, ROBIN]),
      promql_expr_test: questions,
    });
    const tests = [
      group([...sick(BATMAN), ...healthy(ROBIN)], at(firesAt, BATMAN), ...isAlsoSilent),
      group([...sick(BATMAN), ...sick(ROBIN)], at(firesAt, BATMAN, ROBIN)),
      group([...healthy(BATMAN), ...healthy(ROBIN)], at(firesAt)),
    ];
    expect(await tested(name, ALERTS, tests)).toBe('as expected');
  });
});
