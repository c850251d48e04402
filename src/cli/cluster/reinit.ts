// `pointsman cluster reinit`: deletes the data of a replica and copies it anew.
import type { MemberName } from '../../model/member.ts';
import { factsText, sessionsText } from './leader-candidates.ts';
import { openReport, type ChangeOptions, type ClusterCommand } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { chooseMember, lagText, stateText } from './member-choice.ts';
import { operate } from './cluster-change.ts';

export interface ReinitOptions extends ChangeOptions {
  readonly force?: boolean | undefined;
  readonly fromLeader?: boolean | undefined;
}

export async function reinit(command: ClusterCommand<ReinitOptions>, name: MemberName): Promise<number> {
  const { io, options } = command;
  const { context, report } = await openReport(command);
  const member = chooseMember(name, report, io);
  if (isLeader(member)) return fail(io, `${name} is the leader: only a replica can be reinitialized`);
  const { force, fromLeader } = options;
  if (report.leader === null) return fail(io, `the cluster has no leader: the data of ${name} is kept`);
  const facts = factsText(report, context, [
    ['member', `${name}, ${stateText(member)}, lag ${lagText(member)}`],
    [
      'copied from',
      fromLeader === true ? `the leader, ${report.leader}` : 'wherever create_replica_methods has it from',
    ],
    ['sessions', sessionsText(name, await context.sessions())],
  ]);
  return operate(
    {
      plan: `Reinitialize ${name}\n${facts}\nThe data directory of ${name} is deleted and copied anew.\n`,
      question: `Delete the data of ${name}?`,
      name,
      steps: [
        {
          operation: {
            kind: 'reinitialize',
            member: name,
            ...(force === true ? { force } : {}),
            ...(fromLeader === true ? { from_leader: true } : {}),
          },
          title: `reinitialize ${name}`,
        },
      ],
    },
    context,
  );
}
