// The rules for Prometheus: alerts and recording rules, from the files of the chart. The PrometheusRule for kustomize
// is made of the same text.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHART } from '../render-chart.ts';

export const ALERTS = join(CHART, 'files/alerts.yaml');
export const RECORDINGS = join(CHART, 'files/recording-rules.yaml');
export const KUSTOMIZED = new URL(
  '../../../../deploy/kubernetes/kustomize/monitoring/prometheus-rule.yaml',
  import.meta.url,
).pathname;

const alert = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
});
const recording = z.strictObject({ record: z.string(), expr: z.string() });

export type Alert = z.infer<typeof alert>;

export function readAlerts(): Promise<readonly Alert[]> {
  return rulesIn(ALERTS, alert);
}

export function readRecordings(): Promise<readonly z.infer<typeof recording>[]> {
  return rulesIn(RECORDINGS, recording);
}

async function rulesIn<Rule extends z.ZodType>(file: string, rule: Rule): Promise<readonly z.infer<Rule>[]> {
  const document = z.object({ groups: z.array(z.object({ rules: z.array(rule) })) });
  return document.parse(parse(await readFile(file, 'utf8'))).groups.flatMap(({ rules }) => rules);
}

/** The PrometheusRule as it should be. */
export async function kustomizedRules(): Promise<string> {
  const texts = await Promise.all([ALERTS, RECORDINGS].map((file) => readFile(file, 'utf8')));
  return `# The alerts and recording rules, from ../../chart/files by \`npm run monitoring\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: pointsman
  labels: { app.kubernetes.io/name: pointsman }
spec:
  groups:
${texts.map(groupsIn).join('')}`;
}

/** The list under `groups:`, two columns further in. */
function groupsIn(text: string): string {
  const [, list = ''] = text.split(/^groups:\n/m);
  return list.replaceAll(/^(?=.)/gm, '  ');
}
