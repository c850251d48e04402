// `pointsman cluster switchover`: asks Patroni for a planned change of the leader, now or at a time.
import type { ClusterOperation } from '../../cluster/control.ts';
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import type { MemberName } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { candidatesTable, factsText, judgeCandidate, replicas, sessionsText } from './leader-candidates.ts';
import { openReport, type ClusterCommand, type ClusterContext } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { switchoverText } from './cluster-list.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { chooseMember } from './member-choice.ts';
import { afterChange } from './new-leader.ts';
import { perform } from './cluster-change.ts';
import { farAhead, sentTime, timeOption, timeText, type ScheduleOptions } from './times.ts';

export interface ClusterSwitchoverOptions extends ScheduleOptions {
  readonly to?: MemberName | undefined;
}

const NO_HOLD =
  'Patroni does it directly and holds no clients: sessions on the leader are cut.\n' +
  '`pointsman switchover` holds them.\n';
const HOLD_AT_TIME =
  'Each Pointsman holds new clients of the leader from shortly before that time (hold.before_switchover, 1s).\n' +
  'Sessions on the leader are cut at the time, except those that move.\n';

export async function switchover(command: ClusterCommand<ClusterSwitchoverOptions>): Promise<number> {
  const { options, io } = command;
  const at = timeOption(command);
  const { context, report } = await openReport(command);
  const leader = report.members.find(isLeader);
  if (leader === undefined)
    return fail(io, 'there is no leader to switch over from: use `pointsman cluster failover --to MEMBER`');
  const candidate = options.to === undefined ? undefined : chooseMember(options.to, report, io);
  const planned = { leader, candidate, at };
  const refusal = refusalOf(planned, report);
  return refusal === undefined ? propose(planned, report, context) : fail(io, refusal);
}

interface SwitchoverWish {
  readonly leader: MemberReport;
  readonly candidate: MemberReport | undefined;
  readonly at: Date | undefined;
}

/** The reason why the management API would refuse it. */
function refusalOf({ leader, candidate, at }: SwitchoverWish, report: ClusterReport): string | undefined {
  if (candidate?.name === leader.name) return `${leader.name} is the leader already`;
  if (report.paused && at !== undefined) return 'the cluster is paused: Patroni schedules no switchover in it';
  if (report.paused && candidate === undefined) return 'the cluster is paused: name the candidate with --to MEMBER';
  const refusals = (candidate === undefined ? replicas(report) : [candidate]).map(
    (member) => judgeCandidate(member, report).refusal,
  );
  if (refusals.length === 0) return `${leader.name} is the only member: there is no candidate`;
  if (refusals.includes(undefined)) return undefined;
  return candidate === undefined ? `there is no candidate: ${refusals.join(', ')}` : refusals[0];
}

async function propose(
  { leader, candidate, at }: SwitchoverWish,
  report: ClusterReport,
  context: ClusterContext<ClusterSwitchoverOptions>,
): Promise<number> {
  const { io, now } = context;
  const operation: ClusterOperation = {
    kind: 'switchover',
    leader: leader.name,
    ...(candidate === undefined ? {} : { candidate: candidate.name }),
    ...(at === undefined ? {} : { scheduled_at: sentTime(at) }),
  };
  const route = `from ${leader.name} to ${candidate?.name ?? 'a candidate of Patroni’s choice'}`;
  const facts = factsText(report, context, [
    ['leader', `${leader.name}${leader.timeline === null ? '' : `, timeline ${leader.timeline}`}`],
    ['to', candidate?.name ?? 'any candidate, as Patroni chooses'],
    ['when', at === undefined ? 'now' : timeText(at, now())],
    ['sessions', sessionsText(leader.name, await context.sessions())],
  ]);
  const { scheduled_switchover: earlier } = report;
  const warnings = [
    ...(candidate === undefined ? [] : judgeCandidate(candidate, report).warnings),
    ...(earlier === null ? [] : [`this replaces the ${switchoverText(earlier, now())}`]),
    ...farAhead(at, now()),
  ];
  const table = candidatesTable(report, candidate?.name, widthFor(io));
  await perform(
    {
      plan: `Switchover by Patroni\n${facts}\n${table}\n${at === undefined ? NO_HOLD : HOLD_AT_TIME}`,
      warnings,
      question: `${at === undefined ? 'Switch over' : 'Schedule the switchover'} ${route}?`,
      steps: [{ operation, title: `switchover ${route}` }],
      ...(at === undefined ? {} : { note: timeText(at, now()) }),
    },
    context,
  );
  return at === undefined ? await afterChange(leader.name, candidate?.name, context) : EXIT.ok;
}
