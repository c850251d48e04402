// `pointsman cluster reload`: members read their local configuration files again.
import type { MemberName } from '../../model/member.ts';
import { openReport, type ChangeOptions, type ClusterCommand } from './cluster-context.ts';
import { fail } from '../command-end.ts';
import { chooseMembers } from './member-choice.ts';
import { operate } from './cluster-change.ts';

/** Without a target: every member. */
export async function reload(command: ClusterCommand<ChangeOptions>, target?: MemberName): Promise<number> {
  const { context, report } = await openReport(command);
  const names = chooseMembers(target, report, command.io).map(({ name }) => name);
  if (names.length === 0) return fail(command.io, 'the cluster has no members');
  return operate(
    {
      plan:
        `Reload the local configuration file of ${names.join(', ')}\n` +
        'PostgreSQL does not restart: parameters that need a restart stay pending.\n',
      question: `Reload ${names.join(', ')}?`,
      isIndependent: true,
      steps: names.map((member) => ({ operation: { kind: 'reload', member }, title: `reload of ${member}` })),
    },
    context,
  );
}
