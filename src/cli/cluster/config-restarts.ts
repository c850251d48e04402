// The restarts that a change of the dynamic configuration needs, and their order. Pure.
import { parameterChanges, restartNeeds, type ParameterChanges } from '../../cluster/configuration-change.ts';
import type { ClusterConfiguration, ClusterReport } from '../../documents/cluster-documents.ts';
import { restartOrder } from '../../cluster/restart-order.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { wrapped } from '../terminal/wrap.ts';

const COMMAND = 'pointsman cluster restart --pending';

/** Lines for the operator; empty if no member needs a restart. */
export function restartsText(before: ClusterConfiguration, after: ClusterConfiguration, report: ClusterReport): string {
  const changes = parameterChanges(before, after);
  const { needed, perhaps } = restartNeeds(changes);
  const lines = [
    ...(needed.length === 0 ? [] : neededLines(needed.join(', '), changes, report)),
    ...(perhaps.length === 0
      ? []
      : [`${perhaps.join(', ')}: may need a restart; \`pointsman cluster list\` shows where one is pending`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function neededLines(names: string, expected: ParameterChanges, report: ClusterReport): readonly string[] {
  const steps = restartOrder(report, { expected });
  if (steps === undefined) {
    return [
      `${names}: in effect after a restart of every member. A restart was pending before, so the value in use is not`,
      'known here. Compare it with SHOW on a member, and restart them',
      `  if a value such as max_connections is lowered: ${COMMAND} --primary-first`,
      `  else: ${COMMAND} --standbys-first`,
    ];
  }
  const [first, second, third] = steps;
  const leads = report.members.some((member) => isLeader(member) && first?.members.includes(member.name));
  // Patroni before 3.3 does not report why a restart is pending, so the next command has to be told.
  const order = leads ? ' --primary-first' : ' --standbys-first';
  return [
    `${names}: in effect after a restart of every member, in this order:`,
    ...steps.map(({ members, why }, index) => `  ${index + 1}. ${members.join(', ')}\n${wrapped(why, '     ')}`),
    `Restart them in this order with: ${COMMAND}${second === undefined ? '' : order}`,
    ...(third === undefined ? [] : [`If standbys then still need a restart: ${COMMAND}`]),
  ];
}
