// When a pool for writes opens at a member, no session of it is left on another member, wherever that one is and
// whatever it takes (G1, G3). So two Pointsmen cannot have two primaries for longer than one of them sees only one.
import type { Scene, TimedEvent } from '../scene/scene.ts';
import { wiresOf } from './conversations.ts';
import { nameOf, type Law } from './law.ts';

/** A session is on a member for this time. Milliseconds. */
interface Stay {
  readonly session: number;
  /** Its address and port. */
  readonly client: string;
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
  broken(scene) {
    const { pointsmen, events, plan } = scene;
    return pointsmen.flatMap((pointsman, run) => {
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
          .filter((stay) => !hasLeft(scene, stay, at + lateMs))
          .map(({ session, member }) => {
            const where = `on ${member} after ${at.toFixed(1)}, when ${primary} is the primary`;
            return `pointsman ${run}: session ${session} is ${where}`;
          });
      });
    });
  },
};

/** A client may close while Pointsman finds out whether its server is gone: the end of the session is told then. */
function hasLeft(scene: Scene, { client, member, from }: Stay, by: number): boolean {
  const { conversations } = wiresOf(scene);
  const own = conversations.find(({ client: { connection } }) => nameOf(connection.peer) === client);
  const address = scene.cluster.members.find(({ name }) => name === member)?.host.address;
  const legs = own?.legs.filter(({ connection: { peer, openedAt } }) => peer.address === address && openedAt <= from);
  return legs !== undefined && legs.length > 0 && legs.every(({ connection: { endedAt = Infinity } }) => endedAt <= by);
}

function staysIn(events: readonly TimedEvent[], endless: number): readonly Stay[] {
  const stays: Stay[] = [];
  const current = new Map<number, Stay>();
  const clients = new Map<number, string>();
  const end = (session: number, at: number): void => {
    const stay = current.get(session);
    if (stay !== undefined) stay.to = at;
    current.delete(session);
  };
  const begin = (session: number, client: string, member: string, from: number): void => {
    const stay = { session, client, member, from, to: endless };
    stays.push(stay);
    current.set(session, stay);
  };
  for (const { at, event } of events) {
    if (!('pool' in event) || event.pool !== 'write') continue;
    if (event.kind === 'session_opened') clients.set(event.session, event.client);
    const client = 'session' in event ? (clients.get(event.session) ?? '') : '';
    if (event.kind === 'session_opened' && event.member !== undefined) begin(event.session, client, event.member, at);
    else if (event.kind === 'session_moved') begin(event.session, client, event.to, at);
    // Its server has ended it before: a question whether it meant this session alone came between.
    else if (event.kind === 'session_parked') end(event.session, event.cause === 'dead' ? -Infinity : at);
    else if (event.kind === 'session_closed') end(event.session, at - (event.lingeredMs ?? 0));
  }
  return stays;
}
