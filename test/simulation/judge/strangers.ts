// No statement of a client runs at a server of another cluster, whatever address it has (the rules for identity), once
// the last yes of the right server is too old. The witness of the evidence (scene/evidence-witness.ts) judges the time
// before. A Pointsman that starts while the stranger is there cannot know which of both is the right one.
import type { FaultKind, Plan } from '../scene/plan.ts';
import { WRITE_MAX_AGE_MS } from '../scene/site.ts';
import type { Law } from './law.ts';

const STARTS: readonly FaultKind[] = ['pointsman is killed', 'pointsman hands over'];

/**
 * One that starts while the stranger is there takes it for the cluster. A vouch tells that a server accepts at the
 * address, and not which one.
 */
export function mayTakeAStranger({ faults, shape }: Plan): boolean {
  const kinds = faults.map(({ kind }) => kind);
  const mayBelieve = shape.vouching || kinds.some((kind) => STARTS.includes(kind));
  return mayBelieve && kinds.includes('another cluster has its address');
}

/** The probe before the stranger came, and a busy worker. Milliseconds. */
const LATE_MS = 400;

export const STRANGERS: Law = {
  guarantee: 'G2',
  broken({ cluster, plan }) {
    if (mayTakeAStranger(plan)) return [];
    const executions = cluster.strangers.flatMap(({ cluster: { ledger }, since }) =>
      ledger.executions().filter(({ at }) => at > since + WRITE_MAX_AGE_MS + LATE_MS),
    );
    return executions.map(({ client, at, server, sql }) => {
      return `${client} ran "${sql}" at a server of another cluster, at the address of ${server}, at ${at.toFixed(1)}`;
    });
  },
};
