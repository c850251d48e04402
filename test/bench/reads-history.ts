// `npm run bench:reads-history`: reads through pools with causal reads are compared with what was acknowledged before
// them, on a real Patroni cluster to which all kinds of things happen. Exit code 1: one is stale, or the checker found
// no stale read in the pool that has no gate.
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { READ_SCOPES } from '../../src/model/causal-reads.ts';
import { clusterFacts } from './failover/facts.ts';
import { canIsolate, isIsolated, runIsolated } from './failover/network.ts';
import { GATED, type PhaseRecord, playHistory } from './reads/history-run.ts';
import { historyPage, historyText, isProven, sumsOf } from './reads/history-page.ts';
import { phasesOf } from './reads/phases.ts';

const USAGE = `npm run bench:reads-history -- [options]
  --reads N    (1000000)  gated reads, over all phases
  --readers N  (32)       of each of the two gated pools
  --workers N  (1)        of Pointsman
  --scope TEXT (cluster)  of the gated pools: cluster, or proxy, which needs one worker
  --faults TEXT           only faults with one of these texts in their names; with commas between them
  --brief true            one delay of the replicas instead of three
  --page FILE  (test/artifacts/reads.html)`;

const { values } = parseArgs({
  options: {
    reads: { type: 'string', default: '1000000' },
    readers: { type: 'string', default: '32' },
    workers: { type: 'string', default: '1' },
    scope: { type: 'string', default: 'cluster' },
    faults: { type: 'string', default: '' },
    brief: { type: 'string', default: 'false' },
    page: { type: 'string', default: 'test/artifacts/reads.html' },
  },
});

function positive(option: 'reads' | 'readers' | 'workers'): number {
  const value = Number(values[option]);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${option}: '${values[option]}' is not a whole number above 0\n${USAGE}`);
}

const [reads, readers, workers] = [positive('reads'), positive('readers'), positive('workers')];
const scope = READ_SCOPES.find((one) => one === values.scope);
if (scope === undefined) throw new Error(`--scope: '${values.scope}' is none of ${READ_SCOPES.join(', ')}\n${USAGE}`);
const phases = phasesOf({ faults: values.faults, isBrief: values.brief === 'true' });
if (!isIsolated() && canIsolate()) process.exit(await runIsolated());

// The cluster ends with its pipes to this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

function tell(progress: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${progress}`);
}

const date = new Date().toUTCString();
const facts = await clusterFacts();
const records: PhaseRecord[] = [];
const command = `npm run bench:reads-history -- ${process.argv.slice(2).join(' ')}`;

function report(): void {
  const after = `load average of the machine after the run: ${loadavg()[0]?.toFixed(1)}`;
  mkdirSync(dirname(values.page), { recursive: true });
  writeFileSync(values.page, historyPage(records, { date, facts: [...facts, after], command }));
}

function played(record: PhaseRecord): void {
  records.push(record);
  const { gated, stale, plain, plainStale } = sumsOf([record]);
  const { note = '' } = record;
  tell(`  ${stale} of ${gated} gated reads are stale, ${plainStale} of ${plain} without the gate ${note}`);
  for (const pool of GATED) for (const text of record.pools[pool].stale.slice(0, 5)) tell(`  STALE, ${pool}: ${text}`);
  report();
}

await playHistory({ phases, reads, readers, workers, scope, tell, played });
console.log(`${historyText(records)}\n\n${facts.map((fact) => `- ${fact}`).join('\n')}`);
tell(`the report is in ${values.page}`);
// A driver that never answers keeps its connection.
process.exit(isProven(records) ? 0 : 1);
