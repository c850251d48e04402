// The row of a list for one incident.
import type { IncidentEntry } from './incident-views.ts';
import type { IncidentDocument } from './schema.ts';

export function entryOf(document: IncidentDocument): IncidentEntry {
  const writes = document.findings.flatMap((one) => (one.finding === 'no_route' && one.write ? [one.seconds] : []));
  const known = writes.filter((seconds) => seconds !== null);
  const isKnown = writes.length > 0 && known.length === writes.length;
  return {
    id: document.id,
    state: document.state,
    openedAt: document.opened_at,
    settledAt: document.settled_at,
    kinds: document.kinds,
    planned: document.planned,
    noWriteRouteSeconds: isKnown ? Math.round(known.reduce((sum, one) => sum + one, 0) * 1000) / 1000 : null,
    summary: document.summary,
  };
}
