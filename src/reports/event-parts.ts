// Parts that several declarations of events have. The class of a kind says where its events are told, beside the log
// and the metrics.
import type { PoolName } from '../model/policy.ts';

export interface OfSession {
  readonly pool: PoolName;
  readonly session: number;
}

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
