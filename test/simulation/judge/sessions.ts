// Each accepted connection ends with one reason, each hold ends (G10), and an exclusive pool has one target (G1).
import { stoppedMs } from '../scene/plan.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import type { Scene } from '../scene/scene.ts';
import type { Law } from './law.ts';

export const SESSIONS: Law = {
  guarantee: 'G1, G10',
  broken: (scene) =>
    scene.pointsmen.flatMap((pointsman, run) => {
      if (pointsman.isKilled) return [];
      const events = scene.events.filter((event) => event.run === run).map(({ event }) => event);
      return [
        ...unequal(events, 'client_accepted', 'session_closed'),
        ...unequal(events, 'hold_started', 'hold_ended'),
        ...twoTargets(events),
        ...tooLong(events, scene),
        ...releasedBeforeEviction(scene, run),
        ...events.flatMap((event) => (event.kind === 'unexpected_fault' ? [`its own fault: ${event.detail}`] : [])),
      ].map((sentence) => `pointsman ${run}: ${sentence}`);
    }),
};

/** Each session has as many events of the one kind as of the other. */
function unequal(events: readonly ReportedEvent[], ...kinds: readonly [string, string]): readonly string[] {
  const counts = new Map<number, Record<string, number>>();
  for (const event of events) {
    if (!kinds.includes(event.kind) || !('session' in event) || typeof event.session !== 'number') continue;
    const count = counts.get(event.session) ?? {};
    counts.set(event.session, { ...count, [event.kind]: (count[event.kind] ?? 0) + 1 });
  }
  return [...counts]
    .filter(([, count]) => count[kinds[0]] !== count[kinds[1]])
    .map(([session, count]) => `session ${session} has ${JSON.stringify(count)} of ${kinds.join(' and ')}`);
}

/** A busy process notices the end of a wait late. Milliseconds. */
const LATE_MS = 500;

function tooLong(events: readonly ReportedEvent[], { plan }: Scene): readonly string[] {
  const frozenMs = stoppedMs(plan);
  const mostMs = plan.shape.holdMs + LATE_MS + frozenMs;
  return events.flatMap((event) =>
    event.kind === 'hold_ended' && event.waitedMs > mostMs
      ? [`session ${event.session} waited for ${event.waitedMs.toFixed(0)} ms`]
      : [],
  );
}

/** The sessions of a lost primary end before a client gets to the next one (G3). */
function releasedBeforeEviction({ events, plan }: Scene, run: number): readonly string[] {
  // A worker reports the events of 20 ms together.
  if (plan.shape.workers > 1) return [];
  const found: string[] = [];
  let released: { readonly at: number; readonly session: number } | undefined;
  for (const { at, event, run: of } of events) {
    if (of !== run) continue;
    // The decision has been carried out. A session that closes now was evicted before, and has told its client so.
    if (event.kind === 'standing_changed') released = undefined;
    if (event.kind === 'hold_ended' && event.pool === 'write' && event.outcome === 'released') {
      released = { at, session: event.session };
    }
    const isEvicted = event.kind === 'session_closed' && event.pool === 'write' && event.reason.startsWith('evicted_');
    if (isEvicted && released?.at === at) {
      found.push(
        `session ${released.session} is released at ${at.toFixed(1)}, before session ${event.session} is evicted`,
      );
    }
  }
  return found;
}

function twoTargets(events: readonly ReportedEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'route_changed' && event.pool === 'write' && event.to.kind === 'open' && event.to.targets.length > 1
      ? [`the pool for writes has the targets ${event.to.targets.map(({ member }) => member).join(', ')}`]
      : [],
  );
}
