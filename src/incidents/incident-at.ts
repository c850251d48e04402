// Which incident a time belongs to.
import type { IncidentEntry } from './incident-views.ts';

/** The newest incident that shares a moment with the time. Milliseconds since 1970; `to` undefined: it goes on. */
export function incidentAt(
  entries: readonly IncidentEntry[],
  from: number,
  to: number | undefined,
): string | undefined {
  return entries.find(({ openedAt, settledAt }) => {
    const isBefore = to !== undefined && to < Date.parse(openedAt);
    return !isBefore && (settledAt === null || from <= Date.parse(settledAt));
  })?.id;
}
