// `pointsman cluster cancel`: removes a scheduled switchover, or scheduled restarts.
import type { ClusterReport } from '../../cluster/control.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import type { MemberName } from '../../model/member.ts';
import { fail, openContext, readReport, wrong } from './context.ts';
import type { ChangeOptions, ClusterParts } from './context.ts';
import { switchoverText } from './list.ts';
import { chooseMember } from './members.ts';
import { operate } from './operate.ts';
import type { Step } from './operate.ts';
import { timeText } from './times.ts';

export async function cancelSwitchover(options: ChangeOptions, io: CliIo, parts: ClusterParts): Promise<number> {
  const context = await openContext(options, io, parts);
  if (typeof context === 'number') return context;
  const report = await readReport(context);
  if (report === undefined) return EXIT.failure;
  const { scheduled_switchover: scheduled } = report;
  if (scheduled === null) return fail(io, 'nothing to cancel: no switchover is scheduled');
  return operate(
    {
      plan: `Cancel the ${switchoverText(scheduled, context.now())}\n`,
      warnings: [],
      question: 'Cancel it?',
      steps: [{ operation: { kind: 'cancel_switchover' }, title: 'cancel the switchover' }],
    },
    context,
  );
}

/** Without a target: every scheduled restart. */
export async function cancelRestart(
  target: MemberName | undefined,
  options: ChangeOptions,
  io: CliIo,
  parts: ClusterParts,
): Promise<number> {
  const context = await openContext(options, io, parts);
  if (typeof context === 'number') return context;
  const report = await readReport(context);
  if (report === undefined) return EXIT.failure;
  const choice = target === undefined ? undefined : chooseMember(target, report);
  if (choice?.kind === 'unknown') return wrong(io, choice.why);
  const scheduled = scheduledRestarts(choice === undefined ? report.members : [choice.member]);
  if (scheduled.length === 0) {
    return fail(io, `nothing to cancel: no restart${target === undefined ? '' : ` of ${target}`} is scheduled`);
  }
  const now = context.now();
  return operate(
    {
      plan: scheduled
        .map(({ name, at }) => `Cancel the restart of ${name} at ${timeText(new Date(at), now)}\n`)
        .join(''),
      warnings: [],
      question: scheduled.length === 1 ? 'Cancel it?' : 'Cancel them?',
      steps: scheduled.map(({ name }): Step => {
        return { operation: { kind: 'cancel_restart', member: name }, title: `cancel the restart of ${name}` };
      }),
    },
    context,
  );
}

function scheduledRestarts(
  members: ClusterReport['members'],
): readonly { readonly name: MemberName; readonly at: string }[] {
  return members.flatMap(({ name, scheduled_restart: at }) => (at === undefined ? [] : [{ name, at }]));
}
