// `pointsman cluster failover`: makes a member the leader without the old leader's help. Writes can be lost.
import type { MemberName } from '../../model/member.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { candidatesTable, factsText, judgeCandidate, sessionsText } from './leader-candidates.ts';
import { openReport, type ChangeOptions, type ClusterCommand } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { chooseMember, isRunning, lagText } from './member-choice.ts';
import { afterChange } from './new-leader.ts';
import { perform } from './cluster-change.ts';

export interface FailoverOptions extends ChangeOptions {
  readonly to: MemberName;
}

export async function failover(command: ClusterCommand<FailoverOptions>): Promise<number> {
  const { io, options } = command;
  const { context, report } = await openReport(command);
  const name = options.to;
  const member = chooseMember(name, report, io);
  if (isLeader(member)) return fail(io, `${name} is the leader already`);
  const { refusal, warnings } = judgeCandidate(member, report);
  if (refusal !== undefined) return fail(io, refusal);
  const leader = report.members.find(isLeader);
  const facts = factsText(report, context, [
    ['leader', leader?.name ?? 'none'],
    ['to', `${name}, lag ${lagText(member)}`],
    ['sessions', leader && sessionsText(leader.name, await context.sessions())],
  ]);
  const isHealthy = leader !== undefined && isRunning(leader);
  await perform(
    {
      plan:
        `Failover by Patroni\n${facts}\n${candidatesTable(report, name, widthFor(io))}\n` +
        `Writes that ${name} has not received are lost.\n`,
      warnings: [
        ...warnings,
        ...(isHealthy ? [`${leader.name} is a running leader: a switchover loses no write, a failover may`] : []),
      ],
      question: `Fail over to ${name}?`,
      name,
      steps: [{ operation: { kind: 'failover', candidate: name }, title: `failover to ${name}` }],
    },
    context,
  );
  return await afterChange(leader?.name, name, context);
}
