// `npm run monitoring`: writes the Grafana dashboards, and what is made of the rules for Prometheus.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { dashboardFiles } from './support/deploy/monitoring/dashboards/all.ts';
import { KUSTOMIZED, kustomizedRules } from './support/deploy/monitoring/rules.ts';

await writeFile(KUSTOMIZED, await kustomizedRules());
for (const [path, text] of dashboardFiles()) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
