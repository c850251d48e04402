// The alerts use metrics that the program exposes, Prometheus's own tool accepts them, and the most important ones fire
// when they should.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { CLOSE_REASONS } from '../../../src/model/close-reason.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';

const run = promisify(execFile);
const FILE = new URL('../../../deploy/kubernetes/chart/files/alerts.yaml', import.meta.url).pathname;

const alerts = z
  .object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })) })
  .parse(parse(await readFile(FILE, 'utf8')))
  .groups.flatMap(({ rules }) => rules);

/** The names of the metrics in an expression, each with the labels that the expression uses. */
function wantedBy(expr: string): readonly { readonly metric: string; readonly labels: readonly string[] }[] {
  return [...expr.matchAll(/\b((?:pointsman|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label),
  }));
}

test('every metric and label that an alert uses is exposed', async () => {
  const pointsman = await startPointsman({
    // No member answers there, so the process stays not ready. It declares every metric all the same.
    cluster: { seeds: ['http://127.0.0.1:1'] },
    client: { tls: { mode: 'terminate', ...SERVER } },
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
    // Metrics that have samples before the first member must have the labels too. Prometheus itself adds job, namespace
    // and pod.
    for (const { metric, labels } of alerts.flatMap(({ expr }) => wantedBy(expr))) {
      const sample = text.split('\n').find((line) => line.startsWith(`${metric}{`));
      if (sample === undefined) continue;
      for (const label of labels.filter((name) => name !== 'job')) expect(sample).toContain(`${label}="`);
    }
    const [, reasons = ''] = /reason=~"([^"]+)"/.exec(alerts.map(({ expr }) => expr).join('\n')) ?? [];
    for (const reason of reasons.split('|')) expect(Object.keys(CLOSE_REASONS)).toContain(reason);
  } finally {
    await pointsman.stop();
  }
});

/** One series for an hour, and the alerts that it must raise by then. */
const FIRING: readonly (readonly [alert: string, series: string, labels: Readonly<Record<string, string>>])[] = [
  ['PointsmanPoolClosed', 'pointsman_pool_route{pool="write",kind="open"}', { pool: 'write', kind: 'open' }],
  ['PointsmanMemberSilent', 'pointsman_member_up{member="pg-3"}', { member: 'pg-3' }],
  ['PointsmanNotReady', 'pointsman_first_round_complete', {}],
  ['PointsmanReloadFailed', 'pointsman_config_last_reload_successful', {}],
  ['PointsmanCertificateExpires', 'pointsman_tls_certificate_expiry_timestamp_seconds{file="a"}', { file: 'a' }],
];

/** The report of one pod on the member that takes the writes of its cluster. */
function standing(pod: string, member: string, scope = 'batman'): readonly unknown[] {
  const target = `namespace="d",job="j",pod="${pod}",instance="${pod}:8432"`;
  return [
    { series: `pointsman_member_standing{${target},pool="write",standing="open",member="${member}"}`, values: '1x180' },
    { series: `pointsman_cluster_info{${target},scope="${scope}"}`, values: '1x180' },
  ];
}

const missing = await run('promtool', ['--version']).then(
  () => undefined,
  () => 'promtool (npm run prerequisites installs it, in the package prometheus)',
);

describeUnless(missing, 'with promtool', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-alerts-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function firing(name: string, series: readonly unknown[], expected: unknown): Promise<string> {
    const file = join(directory, `${name}.yaml`);
    const alert_rule_test = [{ eval_time: '3h', alertname: name, exp_alerts: expected }];
    const tests = [{ interval: '1m', input_series: series, alert_rule_test }];
    await writeFile(file, stringify({ rule_files: [FILE], evaluation_interval: '1m', tests }));
    return run('promtool', ['test', 'rules', file]).then(
      () => 'as expected',
      (error: unknown) => (error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)),
    );
  }

  test('Prometheus accepts them', async () => {
    await run('promtool', ['check', 'rules', '--lint-fatal', FILE]);
  });

  test.each(FIRING)('%s fires, and is silent for a healthy value', async (name, series, labels) => {
    const all = z.object({ groups: z.array(z.object({ rules: z.array(z.looseObject({ alert: z.string() })) })) });
    const rules = all.parse(parse(await readFile(FILE, 'utf8'))).groups[0]?.rules;
    const severity = z.looseObject({ labels: z.object({ severity: z.string() }) });
    const rule = severity.parse(rules?.find(({ alert }) => alert === name));
    const said = await firing(name, [{ series, values: '0x180' }], []);
    // The tool compares annotations too; its output shows that the alert fired with these labels.
    for (const part of Object.entries({ ...labels, ...rule.labels })) expect(said).toContain(`${part[0]}="${part[1]}"`);
    expect(await firing(name, [{ series, values: '1x60 9999999999x120' }], [])).toBe('as expected');
  });

  test('PointsmanDisagreement fires when two pods of one job route writes to different members', async () => {
    const name = 'PointsmanDisagreement';
    expect(await firing(name, [...standing('a', 'pg-1'), ...standing('b', 'pg-1')], [])).toBe('as expected');
    expect(await firing(name, [...standing('a', 'pg-1'), ...standing('b', 'pg-2')], [])).toContain('job="j"');
  });

  test('PointsmanDisagreement does not mix the clusters that one job scrapes', async () => {
    const name = 'PointsmanDisagreement';
    const two = [...standing('a', 'pg-1'), ...standing('b', 'pg-2', 'robin')];
    expect(await firing(name, two, [])).toBe('as expected');
    expect(await firing(name, [...two, ...standing('c', 'pg-9', 'robin')], [])).toContain('scope="robin"');
  });
});
