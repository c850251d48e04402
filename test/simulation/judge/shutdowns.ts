// A Pointsman that is told to stop takes no new client after its grace, ends sessions between two transactions, and has
// stopped by the end of its drain (G14).
import { stoppedMs } from '../scene/plan.ts';
import { DRAIN_MS, GRACE_MS } from '../scene/site.ts';
import type { Scene } from '../scene/scene.ts';
import type { SimulatedPointsman } from '../pointsman/simulated-pointsman.ts';
import { framesOf, wiresOf, type Conversation } from './conversations.ts';
import { nameOf, type Law } from './law.ts';

/** A busy process, and clients that read their last words. Milliseconds. */
const LATE_MS = 1_500;

export const SHUTDOWNS: Law = {
  guarantee: 'G14',
  broken: (scene) => scene.pointsmen.flatMap((pointsman, run) => shutdown(scene, pointsman, run)),
};

function shutdown(scene: Scene, pointsman: SimulatedPointsman, run: number): readonly string[] {
  const { drainedAt, stoppedAt, killedAt } = pointsman;
  if (drainedAt === undefined || killedAt !== undefined) return [];
  const lateMs = LATE_MS + stoppedMs(scene.plan);
  const tookMs = (stoppedAt ?? Infinity) - drainedAt;
  const lastClient = scene.events.findLast((one) => one.run === run && one.event.kind === 'client_accepted')?.at ?? 0;
  const said = [
    ...(tookMs > GRACE_MS + DRAIN_MS + lateMs ? [`takes ${tookMs.toFixed(0)} ms to stop`] : []),
    ...(lastClient > drainedAt + GRACE_MS + lateMs ? [`accepts a client at ${lastClient.toFixed(1)}`] : []),
    ...cut(scene, run, drainedAt),
  ];
  return said.map((text) => `pointsman ${run}, told to stop at ${drainedAt.toFixed(1)}, ${text}`);
}

/** Sessions that it ended within a transaction, before the end of the drain. */
function cut(scene: Scene, run: number, drainedAt: number): readonly string[] {
  const { conversations } = wiresOf(scene);
  return scene.events.flatMap(({ at, run: of, event }) => {
    if (of !== run || event.kind !== 'session_closed' || event.reason !== 'shutdown') return [];
    if (at > drainedAt + GRACE_MS + DRAIN_MS - 100) return [];
    const talk = conversations.find(({ client }) => nameOf(client.connection.peer) === event.client);
    if (talk === undefined) return [];
    const status = statusIn(talk);
    const isOpen = status === 'T' || status === 'E';
    return isOpen && !isRolledBack(scene, run, event.session, status)
      ? [`cuts ${talk.session} within a transaction, at ${at.toFixed(1)}`]
      : [];
  });
}

/**
 * It has no next server yet. Its transaction was rolled back for the move, or had failed before: then nothing was told.
 */
function isRolledBack({ events }: Scene, run: number, session: number, status: 'T' | 'E'): boolean {
  const last = events.findLast(
    ({ run: of, event }) =>
      of === run && (event.kind === 'session_parked' || event.kind === 'session_moved') && event.session === session,
  );
  return last?.event.kind === 'session_parked' && (last.event.hasAborted === true || status === 'E');
}

/** As the client knows it. */
function statusIn({ client }: Conversation): string | undefined {
  return framesOf(client.answers, false)
    .frames.findLast(({ type }) => type === 'Z')
    ?.body.toString('latin1');
}
