// No statement runs twice (G8). No confirmed write is lost, except those that replication lost by itself, and those of
// a primary that had lost its lock while Pointsman could not know it yet.
import { verdictOn } from '../cluster/verdict.ts';
import type { Law } from './law.ts';
import { mayTakeAStranger } from './strangers.ts';

export const WRITES: Law = {
  guarantee: 'G8',
  broken({ cluster, clients, plan }) {
    const primary = cluster.primary();
    if (primary === undefined) return ['the cluster has no primary after the quiet time'];
    const { ledger, store } = cluster;
    const accounts = clients.map(({ account }) => account);
    const verdict = verdictOn(primary.server.wal, ledger, store.leases(), accounts);
    const lost = verdict.losses.filter(
      ({ cause }) =>
        (cause === 'never_run' && !mayTakeAStranger(plan)) || (cause === 'replication' && plan.shape.isSynchronous),
    );
    return [
      ...verdict.doubled.map((write) => `${write} ran twice`),
      ...verdict.unexpected.map((write) => `${write} is there, and its client knows that it is not`),
      ...lost.map(({ client, write, cause }) => `${client}/${write.number} was confirmed and is lost: ${cause}`),
      ...(verdict.missingMoney === 0 ? [] : [`${verdict.missingMoney} are missing in the accounts`]),
    ];
  },
};
