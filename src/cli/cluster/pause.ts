// `pointsman cluster pause` and `resume`: whether Patroni acts by itself.
import type { ClusterReport } from '../../documents/cluster-documents.ts';
import { EXIT, type CliIo } from '../io.ts';
import { openReport, type ChangeOptions, type ClusterParts, type ClusterContext } from './cluster-context.ts';
import { json } from '../json.ts';
import { operate } from './cluster-change.ts';

const MEANING = {
  pause: 'Patroni stops managing the cluster: no automatic failover, and a stopped PostgreSQL stays stopped.',
  resume: 'Patroni acts by itself again: a dead leader is replaced, a stopped PostgreSQL is started.',
} as const;

export async function pauseOrResume(
  kind: 'pause' | 'resume',
  options: ChangeOptions,
  io: CliIo,
  parts: ClusterParts,
): Promise<number> {
  const { context, report } = await openReport(options, io, parts);
  if ((await isSoAlready(kind, report, context)) && options.dryRun !== true) {
    if (options.json !== true) io.stdout(`the cluster is ${kind === 'pause' ? 'paused already' : 'not paused'}\n`);
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

/** The configuration decides. A member learns of it with its next heartbeat, so its own report may be older. */
async function isSoAlready(
  kind: 'pause' | 'resume',
  report: ClusterReport,
  { control }: ClusterContext,
): Promise<boolean> {
  const config = await control.config();
  const isSet = config.kind === 'read' ? Boolean(config.value['pause']) : report.paused;
  return kind === 'pause' ? isSet : !isSet && !report.paused;
}
