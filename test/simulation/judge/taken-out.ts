// A statement that Pointsman answered itself while it waited, with 57014 or 40001, ran nowhere, not even in a
// transaction that was rolled back (G8).
import type { Law } from './law.ts';

export const TAKEN_OUT: Law = {
  guarantee: 'G8',
  broken({ clients, cluster }) {
    const ran = new Map(
      cluster.ledger.writes().map(({ change, server }) => [`${change?.client}/${change?.number}`, server]),
    );
    return clients.flatMap(({ account: { name, takenOut } }) =>
      takenOut.flatMap((number) => {
        const server = ran.get(`${name}/${number}`);
        return server === undefined ? [] : [`${name}/${number} was answered while it waited, and ran at ${server}`];
      }),
    );
  },
};
