// `pointsman cluster reload`: members read their local configuration files again.
import type { CliIo } from '../io.ts';
import type { MemberName } from '../../model/member.ts';
import { openReport, type ChangeOptions, type ClusterParts } from './cluster-context.ts';
import { fail, wrong } from '../command-end.ts';
import { chooseMember } from './member-choice.ts';
import { operate } from './cluster-change.ts';

/** Without a target: every member. */
export async function reload(
  target: MemberName | undefined,
  options: ChangeOptions,
  io: CliIo,
  parts: ClusterParts,
): Promise<number> {
  const { context, report } = await openReport(options, io, parts);
  const choice = target === undefined ? undefined : chooseMember(target, report);
  if (choice?.kind === 'unknown') return wrong(io, choice.why);
  const names = (choice === undefined ? report.members : [choice.member]).map(({ name }) => name);
  if (names.length === 0) return fail(io, 'the cluster has no members');
  return operate(
    {
      plan:
        `Reload the local configuration file of ${names.join(', ')}\n` +
        'PostgreSQL does not restart: parameters that need a restart stay pending.\n',
      warnings: [],
      question: `Reload ${names.join(', ')}?`,
      isIndependent: true,
      steps: names.map((member) => ({ operation: { kind: 'reload', member }, title: `reload of ${member}` })),
    },
    context,
  );
}
