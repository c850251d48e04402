// `npm run bench:consistency`: clients write to a real Patroni cluster through Pointsman while faults of all kinds
// happen, and a checker judges what they were told and what there is. Exit code 1: a law is broken.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SUM } from './consistency/database.ts';
import { judge } from './consistency/judge/judge.ts';
import { modeName, readOptions } from './consistency/options.ts';
import type { JudgedRun } from './consistency/report/judged-run.ts';
import { page } from './consistency/report/page.ts';
import { textReport } from './consistency/report/text.ts';
import { type FinishedRun, playRun, PROBE } from './consistency/run.ts';
import { clusterFacts } from './failover/facts.ts';
import { canIsolate, isIsolated, runIsolated } from './failover/network.ts';

const options = readOptions(process.argv.slice(2), Math.random());
if (!isIsolated() && canIsolate()) process.exit(await runIsolated());

/** One probe begins late by the jitter, and takes its whole time. */
const SEEN_MS = PROBE.intervalMs * 1.1 + PROBE.timeoutMs;
/** guarantees.md: timelines never go back by themselves. */
const AGREED_MS = 30_000;
const BOUNDS = { seenMs: SEEN_MS, hiddenMs: PROBE.silenceGraceMs, agreedMs: AGREED_MS };

// The cluster ends with its pipes to this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

function tell(progress: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${progress}`);
}

/** The commit of this checkout, as git tells it. */
async function commit(): Promise<string> {
  const asked = promisify(execFile)('git', ['describe', '--always', '--dirty'], { cwd: import.meta.dirname });
  const { stdout } = await asked.catch(() => ({ stdout: 'unknown' }));
  return `Pointsman of commit ${stdout.trim()}`;
}

function keep(folder: string, { run, mode }: Pick<JudgedRun, 'run' | 'mode'>): void {
  const into = join(folder, modeName(mode).replaceAll(/\W+/g, '-'));
  mkdirSync(into, { recursive: true });
  const asJson = JSON.stringify(run.history, (_, part: unknown) =>
    part instanceof Map ? Object.fromEntries(part) : part,
  );
  writeFileSync(join(into, 'history.json'), asJson);
  writeFileSync(join(into, 'pointsman.log'), run.pointsmanLog.join('\n'));
  for (const [name, text] of run.serverLogs) writeFileSync(join(into, `${name}.log`), text);
}

const date = new Date().toUTCString();
const facts = [
  ...(await clusterFacts()),
  await commit(),
  ...(options.hasTls ? ['clients and members take TLS alone'] : []),
  ...(options.pointsmen > 1 ? [`${options.pointsmen} Pointsmen beside each other`] : []),
];
const runs: JudgedRun[] = [];
for (const mode of options.modes) {
  const { seed, minutes, isBrief, kinds, hasTls, pointsmen } = options;
  tell(`${modeName(mode)}, seed ${seed}`);
  const run: FinishedRun = await playRun({ mode, seed, minutes, isBrief, kinds, hasTls, pointsmen, tell });
  const isSynchronous = mode.replication === 'synchronous';
  if (options.keep !== undefined) keep(options.keep, { run, mode });
  runs.push({ mode, seed, run, judgement: judge(run.history, { isSynchronous, sum: SUM, bounds: BOUNDS }) });
}
mkdirSync(dirname(options.page), { recursive: true });
writeFileSync(options.page, page(runs, { date, facts, chosen: options.chosen, bounds: BOUNDS }));
console.log(`${textReport(runs)}\n\n${facts.map((fact) => `- ${fact}`).join('\n')}`);
tell(`the report is in ${options.page}`);
const broken = runs.flatMap(({ mode, judgement }) =>
  judgement.laws.filter(({ faults }) => faults > 0).map(({ name, said }) => `${modeName(mode)}: ${name}: ${said}`),
);
for (const law of broken) console.error(`a law is broken: ${law}`);
// A driver that never answers keeps its connection.
process.exit(broken.length === 0 ? 0 : 1);
