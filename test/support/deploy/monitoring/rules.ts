// The rules for Prometheus: alerts and recording rules, from the files of the chart. The PrometheusRule for kustomize
// is made of the same text.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHART } from '../render-chart.ts';

export const ALERTS = join(CHART, 'files/alerts.yaml');
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
const groups = <Rule extends z.ZodType>(rule: Rule) =>
  z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule) })) });

export type Alert = z.infer<typeof alert>;

export async function readAlerts(): Promise<readonly Alert[]> {
  const text = await readFile(ALERTS, 'utf8');
  return groups(alert)
    .parse(parse(text))
    .groups.flatMap(({ rules }) => rules);
}

/** The PrometheusRule as it should be. */
export async function kustomizedRules(): Promise<string> {
  const text = await readFile(ALERTS, 'utf8');
  return `# The alerts, from ../../chart/files by \`npm run monitoring\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: pointsman
  labels: { app.kubernetes.io/name: pointsman }
spec:
  groups:
${groupsIn(text)}`;
}

/** The list under `groups:`, two columns further in. */
function groupsIn(text: string): string {
  const [, list = ''] = text.split(/^groups:\n/m);
  return list.replaceAll(/^(?=.)/gm, '  ');
}
