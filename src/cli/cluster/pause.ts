// `pointsman cluster pause` and `resume`: whether Patroni acts by itself.
import type { ClusterReport } from '../../documents/cluster-documents.ts';
import { openReport, type ChangeOptions, type ClusterCommand, type ClusterContext } from './cluster-context.ts';
import { noChange, operate } from './cluster-change.ts';

const MEANING = {
  pause: 'Patroni stops managing the cluster: no automatic failover, and a stopped PostgreSQL stays stopped.',
  resume: 'Patroni acts by itself again: a dead leader is replaced, a stopped PostgreSQL is started.',
} as const;

export const pause = (command: ClusterCommand<ChangeOptions>): Promise<number> => change('pause', command);
export const resume = (command: ClusterCommand<ChangeOptions>): Promise<number> => change('resume', command);

async function change(kind: 'pause' | 'resume', command: ClusterCommand<ChangeOptions>): Promise<number> {
  const { context, report } = await openReport(command);
  if ((await isSoAlready(kind, report, context)) && command.options.dryRun !== true) {
    return noChange(`the cluster is ${kind === 'pause' ? 'paused already' : 'not paused'}`, context);
  }
  const name = report.scope ?? 'the cluster';
  return operate(
    {
      plan: `${MEANING[kind]}\n`,
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
