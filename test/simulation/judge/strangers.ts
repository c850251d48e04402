// No statement of a client runs at a server of another cluster, whatever address it has (the rules for identity). A
// Pointsman that starts while the stranger is there cannot know which of both is the right one.
import type { FaultKind, Plan } from '../scene/plan.ts';
import type { Law } from './law.ts';

const STARTS: readonly FaultKind[] = ['pointsman is killed', 'pointsman hands over'];

/** One that starts while the stranger is there takes it for the cluster. */
export function mayTakeAStranger({ faults }: Plan): boolean {
  const kinds = faults.map(({ kind }) => kind);
  return kinds.includes('another cluster has its address') && kinds.some((kind) => STARTS.includes(kind));
}

export const STRANGERS: Law = {
  guarantee: 'G2',
  broken({ cluster, plan }) {
    if (mayTakeAStranger(plan)) return [];
    const executions = cluster.strangers.flatMap(({ ledger }) => ledger.executions());
    return executions.map(({ client, at, server, sql }) => {
      return `${client} ran "${sql}" at a server of another cluster, at the address of ${server}, at ${at.toFixed(1)}`;
    });
  },
};
