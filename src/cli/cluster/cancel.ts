// `pointsman cluster cancel`: removes a scheduled switchover, or scheduled restarts.
import type { MemberReport, OperationResult } from '../../documents/cluster-documents.ts';
import { EXIT } from '../io.ts';
import type { MemberName } from '../../model/member.ts';
import { openReport, type ChangeOptions, type ClusterCommand } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { switchoverText } from './cluster-list.ts';
import { chooseMembers } from './member-choice.ts';
import { operate, perform, type ChangeStep } from './cluster-change.ts';
import { timeText } from './times.ts';

export async function cancelSwitchover(command: ClusterCommand<ChangeOptions>): Promise<number> {
  const { context, report } = await openReport(command);
  const { scheduled_switchover: scheduled } = report;
  if (scheduled === null) return fail(command.io, 'nothing to cancel: no switchover is scheduled');
  return operate(
    {
      plan: `Cancel the ${switchoverText(scheduled, context.now())}\n`,
      question: 'Cancel it?',
      steps: [{ operation: { kind: 'cancel_switchover' }, title: 'cancel the switchover' }],
    },
    context,
  );
}

/** Without a target: every scheduled restart. */
export async function cancelRestart(command: ClusterCommand<ChangeOptions>, target?: MemberName): Promise<number> {
  const { io } = command;
  const { context, report } = await openReport(command);
  const chosen = chooseMembers(target, report, io);
  // An API without the field knows by itself whether there is one.
  const scheduled = chosen.filter((member) => !report.reports_restarts || member.scheduled_restart !== undefined);
  const nothing = `nothing to cancel: no restart${target === undefined ? '' : ` of ${target}`} is scheduled`;
  if (scheduled.length === 0) return fail(io, nothing);
  const now = context.now();
  const results = await perform(
    {
      plan: scheduled.map((member) => planLine(member, now)).join(''),
      question: scheduled.length === 1 ? 'Cancel it?' : 'Cancel them?',
      isIndependent: true,
      steps: scheduled.map(({ name, scheduled_restart: at }): ChangeStep => {
        const step = {
          operation: { kind: 'cancel_restart', member: name },
          title: `cancel the restart of ${name}`,
        } as const;
        return at === undefined ? { ...step, excuse: (result) => unscheduled(name, result) } : step;
      }),
    },
    context,
  );
  return results.length === 0 ? fail(io, nothing) : EXIT.ok;
}

function planLine({ name, scheduled_restart: at }: MemberReport, now: Date): string {
  const when =
    at === undefined ? ', if one is scheduled: the member does not report it' : ` at ${timeText(new Date(at), now)}`;
  return `Cancel the restart of ${name}${when}\n`;
}

/** Patroni answers 404, the management API 412. */
function unscheduled(name: MemberName, result: OperationResult): string | undefined {
  if (result.kind !== 'precondition') return undefined;
  return `${name} has no scheduled restart${result.reason === '' ? '' : `: ${result.reason}`}`;
}
