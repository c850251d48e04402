// `npm run monitoring`: writes what is made of the rules for Prometheus.
import { writeFile } from 'node:fs/promises';
import { KUSTOMIZED, kustomizedRules } from './support/deploy/monitoring/rules.ts';

await writeFile(KUSTOMIZED, await kustomizedRules());
