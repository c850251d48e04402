// Takes every event with its number and keeps the incidents. Owns their state; what it needs of the rest of the program
// comes in as functions.
import type { Instant } from '../model/instant.ts';
import type { ReportedEvent } from '../reports/events.ts';
import type { IncidentChange, Incidents } from './incidents.ts';
import type { IncidentDocument } from './schema.ts';

export interface IncidentRecorder extends Incidents {
  /** `at`: when it happened, which may be before this call. Cheap, and never throws. */
  take(event: ReportedEvent, number: number, at: Instant): void;
}

export function createIncidentRecorder(): IncidentRecorder {
  const documents = new Map<string, IncidentDocument>();
  const listeners = new Set<(change: IncidentChange, document: IncidentDocument) => void>();
  return {
    take: () => {},
    list: () => [],
    get: (id) => Promise.resolve(documents.get(id)),
    text: () => Promise.resolve(undefined),
    currentId: () => undefined,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
