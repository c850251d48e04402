// `pointsman cluster pause` and `resume`: whether Patroni acts by itself.
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { openContext, readReport } from './context.ts';
import type { ChangeOptions, ClusterParts } from './context.ts';
import { json } from '../json.ts';
import { operate } from './operate.ts';

const MEANING = {
  pause: 'Patroni stops to act by itself: no automatic failover, no start of a stopped PostgreSQL.',
  resume: 'Patroni acts by itself again: a dead leader is replaced, a stopped PostgreSQL is started.',
} as const;

export async function pauseOrResume(
  kind: 'pause' | 'resume',
  options: ChangeOptions,
  io: CliIo,
  parts: ClusterParts,
): Promise<number> {
  const context = await openContext(options, io, parts);
  if (typeof context === 'number') return context;
  const report = await readReport(context);
  if (report === undefined) return EXIT.failure;
  if (report.paused === (kind === 'pause') && options.dryRun !== true) {
    if (options.json !== true) io.stdout(`the cluster is ${report.paused ? 'paused already' : 'not paused'}\n`);
    else io.stdout(json({ results: [], not_done: [] }));
    return EXIT.ok;
  }
  const name = report.scope ?? 'the cluster';
  return operate(
    {
      plan: `${MEANING[kind]}\n`,
      warnings: [],
      question: kind === 'pause' ? `Pause ${name}?` : `Resume ${name}?`,
      steps: [{ operation: { kind }, title: kind }],
    },
    context,
  );
}
