// The restarts that a change of the dynamic configuration needs, and their order. Pure.
import { parameterChanges, restartNeeds } from '../../cluster/configuration.ts';
import type { ClusterConfiguration, ClusterReport } from '../../cluster/control.ts';
import { restartOrder } from '../../cluster/restart-order.ts';
import { wrapped } from '../terminal/wrap.ts';

/** Lines for the operator; empty if no member needs a restart. */
export function restartsText(before: ClusterConfiguration, after: ClusterConfiguration, report: ClusterReport): string {
  const changes = parameterChanges(before, after);
  const { needed, perhaps } = restartNeeds(changes);
  const lines = [
    ...(needed.length === 0
      ? []
      : [
          `${needed.join(', ')}: in effect after a restart of every member, in this order:`,
          ...restartOrder(report, changes).map(
            ({ members, why }, index) => `  ${index + 1}. ${members.join(', ')}\n${wrapped(why, '     ')}`,
          ),
          'Restart them in this order with: pointsman cluster restart --pending',
        ]),
    ...(perhaps.length === 0
      ? []
      : [`${perhaps.join(', ')}: may need a restart; \`pointsman cluster list\` shows where one is pending`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
