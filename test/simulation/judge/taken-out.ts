// A statement that Pointsman answered itself ran nowhere, not even in a transaction that was rolled back (G8). Only the
// server of a lost transaction may still get a statement that was on the way, and commits nothing of it.
import type { Law } from './law.ts';

export const TAKEN_OUT: Law = {
  guarantee: 'G8',
  broken({ clients, cluster }) {
    const ran = new Map(
      cluster.ledger
        .writes()
        .map((execution) => [`${execution.change?.client}/${execution.change?.number}`, execution]),
    );
    return clients.flatMap(({ account: { name, takenOut } }) =>
      takenOut.flatMap(({ number, isVoid }) => {
        const execution = ran.get(`${name}/${number}`);
        if (execution === undefined || (isVoid && execution.record === undefined)) return [];
        return [`${name}/${number} was answered by Pointsman, and ran at ${execution.server}`];
      }),
    );
  },
};
