// A cancel request reaches only the session that its client named (G17). Servers give the same process ids to others.
import type { Scene } from '../scene/scene.ts';
import { keyIn, wiresOf, type CancelRequest, type Conversation } from './conversations.ts';
import { nameOf, type Law } from './law.ts';

/** A request is passed on within this time, or never. Milliseconds. */
const LATEST_MS = 10_000;

export const CANCELS: Law = { guarantee: 'G17', broken: strayCancels };

function strayCancels(scene: Scene): readonly string[] {
  const { conversations, cancels } = wiresOf(scene);
  const asked = cancels.filter(({ connection }) => connection.isAccepted);
  const frozenMs = scene.plan.faults.reduce((sum, { kind, forMs }) => sum + (kind.endsWith('freezes') ? forMs : 0), 0);
  return cancels.flatMap((cancel) => {
    const { connection } = cancel;
    if (connection.isAccepted) return [];
    const hit = conversations.find((one) => isHit(one, cancel));
    if (hit === undefined) return [];
    const client = hit.client.connection.peer.address;
    const isWanted = asked.some((one) => {
      const beforeMs = connection.openedAt - one.connection.openedAt;
      return one.connection.peer.address === client && beforeMs >= 0 && beforeMs <= LATEST_MS + frozenMs;
    });
    return isWanted || isForMove(scene, hit, connection.openedAt)
      ? []
      : [`${hit.session} is canceled at ${connection.openedAt.toFixed(1)}, and its client asked nothing`];
  });
}

/** Pointsman itself ends a statement whose transaction it rolls back for a move: the session leaves, or ends. */
function isForMove({ plan, events }: Scene, { client }: Conversation, at: number): boolean {
  if (plan.shape.onStays !== 'abort') return false;
  const name = nameOf(client.connection.peer);
  const accepted = events.find(({ event }) => event.kind === 'client_accepted' && event.client === name);
  if (accepted?.event.kind !== 'client_accepted') return false;
  const { run, event } = accepted;
  return events.some(
    ({ at: then, run: of, event: next }) =>
      of === run &&
      then >= at &&
      then <= at + LATEST_MS &&
      (next.kind === 'session_parked' || next.kind === 'session_stayed' || next.kind === 'session_closed') &&
      next.session === event.session,
  );
}

/** The server that gets the request runs a session of that key. */
function isHit({ legs }: Conversation, { connection, process, secret }: CancelRequest): boolean {
  return legs.some((leg) => {
    const { peer, openedAt, endedAt = Infinity } = leg.connection;
    if (peer.address !== connection.peer.address || openedAt > connection.openedAt) return false;
    if (endedAt < connection.openedAt) return false;
    const key = keyIn(leg.answers);
    return key?.process === process && key.secret === secret;
  });
}
