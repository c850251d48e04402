// The rows of the list of incidents.
import { sumOf } from '../model/sums.ts';
import type { IncidentDocument, IncidentEntry } from './schema.ts';

/** The row of a list for one incident. */
export function entryOf(document: IncidentDocument): IncidentEntry {
  const writes = document.findings.flatMap((one) => (one.finding === 'no_route' && one.write ? [one.seconds] : []));
  const known = writes.filter((seconds) => seconds !== null);
  const isKnown = writes.length > 0 && known.length === writes.length;
  return {
    id: document.id,
    state: document.state,
    opened_at: document.opened_at,
    settled_at: document.settled_at,
    kinds: document.kinds,
    planned: document.planned,
    no_write_route_seconds: isKnown ? Math.round(sumOf(known, (seconds) => seconds) * 1000) / 1000 : null,
    summary: document.summary,
  };
}

/** The newest incident that shares a moment with the time. Milliseconds since 1970; `to` undefined: it goes on. */
export function incidentAt(
  entries: readonly IncidentEntry[],
  from: number,
  to: number | undefined,
): string | undefined {
  return entries.find(({ opened_at: opened, settled_at: settled }) => {
    const isBefore = to !== undefined && to < Date.parse(opened);
    return !isBefore && (settled === null || from <= Date.parse(settled));
  })?.id;
}
