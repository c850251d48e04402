// A member counts as dead only when both of its ports have refused (G12): a fault of Pointsman's host does not count.
import type { Scene } from '../scene/scene.ts';
import type { Law } from './law.ts';

/** The answer and the question about the other port come one after the other. Milliseconds. */
const LATEST_MS = 3_000;

export const DEATHS: Law = { guarantee: 'G12', broken: unprovenDeaths };

function unprovenDeaths({ events, observer }: Scene): readonly string[] {
  return events.flatMap(({ at, run, event }) => {
    if (event.kind !== 'standing_changed' || event.to.kind !== 'leave' || event.to.cause !== 'dead') return [];
    const { member, pool } = event;
    const isProven = observer.answers.some(
      (one) =>
        one.run === run &&
        one.member === member &&
        one.result.kind === 'refused' &&
        one.at <= at &&
        one.at >= at - LATEST_MS,
    );
    return isProven ? [] : [`pointsman ${run} takes ${member} for dead in pool ${pool}, and no port of it refused`];
  });
}
