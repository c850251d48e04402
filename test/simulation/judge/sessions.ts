// Each accepted connection ends with one reason, each hold ends (G10), and an exclusive pool has one target (G1).
import type { ReportedEvent } from '../../../src/reports/events.ts';
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

function twoTargets(events: readonly ReportedEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'route_changed' && event.pool === 'write' && event.to.kind === 'open' && event.to.targets.length > 1
      ? [`the pool for writes has the targets ${event.to.targets.map(({ member }) => member).join(', ')}`]
      : [],
  );
}
