// Where the events of a kind are told, beside the metrics and the log. The declaration of a kind gives its class.

/**
 * `detail`: in the log alone, always below info. `evidence`: below info as well, and incidents keep it. `notice`: in
 * GET /events, and no incident keeps it. `story`: in GET /events and in incidents.
 */
export type EventClass = 'detail' | 'evidence' | 'notice' | 'story';

export function isKeptInIncidents(of: EventClass): boolean {
  return of === 'evidence' || of === 'story';
}

/** False: no line of the event has level info or above. */
export function isStreamed(of: EventClass): boolean {
  return of === 'notice' || of === 'story';
}
