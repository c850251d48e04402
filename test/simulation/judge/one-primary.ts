// When a pool for writes opens at a member, no session of it is left on another member, wherever that one is and
// whatever it takes (G1, G3). So two Pointsmen cannot have two primaries for longer than one of them sees only one.
import type { TimedEvent } from '../scene/scene.ts';
import type { Law } from './law.ts';

/** A session is on a member for this time. Milliseconds. */
interface Stay {
  readonly session: number;
  readonly member: string;
  readonly from: number;
  to: number;
}

/** A clock that drifts has measured how long a client read its last message. */
const LATE_MS = 150;
/** A busy worker gets the table late. */
const LATE_IN_WORKERS_MS = 400;

export const ONE_PRIMARY: Law = {
  guarantee: 'G1, G3',
  broken: ({ pointsmen, events, plan }) =>
    pointsmen.flatMap((pointsman, run) => {
      const lateMs = plan.shape.workers > 1 ? LATE_IN_WORKERS_MS : LATE_MS;
      const own = events.filter((one) => one.run === run);
      // The last events of one that was killed are missing.
      const endless = pointsman.isKilled ? -Infinity : Infinity;
      const stays = staysIn(own, endless);
      return own.flatMap(({ at, event }) => {
        if (event.kind !== 'route_changed' || event.pool !== 'write' || event.to.kind !== 'open') return [];
        const [{ member: primary }] = event.to.targets;
        return stays
          .filter(({ member, from, to }) => member !== primary && from < at && to > at + lateMs)
          .map(({ session, member }) => {
            const where = `on ${member} after ${at.toFixed(1)}, when ${primary} is the primary`;
            return `pointsman ${run}: session ${session} is ${where}`;
          });
      });
    }),
};

function staysIn(events: readonly TimedEvent[], endless: number): readonly Stay[] {
  const stays: Stay[] = [];
  const current = new Map<number, Stay>();
  const end = (session: number, at: number): void => {
    const stay = current.get(session);
    if (stay !== undefined) stay.to = at;
    current.delete(session);
  };
  const begin = (session: number, member: string, from: number): void => {
    const stay = { session, member, from, to: endless };
    stays.push(stay);
    current.set(session, stay);
  };
  for (const { at, event } of events) {
    if (!('pool' in event) || event.pool !== 'write') continue;
    if (event.kind === 'session_opened' && event.member !== undefined) begin(event.session, event.member, at);
    else if (event.kind === 'session_moved') begin(event.session, event.to, at);
    // Its server has ended it before: a question whether it meant this session alone came between.
    else if (event.kind === 'session_parked') end(event.session, event.cause === 'dead' ? -Infinity : at);
    else if (event.kind === 'session_closed') end(event.session, at - (event.lingeredMs ?? 0));
  }
  return stays;
}
