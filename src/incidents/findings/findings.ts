// All findings of a document, from its events and snapshots alone. Each names the events that it rests on. Pure: a
// reader of the document can verify every one of them.
import type { Finding } from '../schema.ts';
import { refusedMembers, timelines } from './cluster-findings.ts';
import { clientsRefused, holds, loginsRefused, sessionsCut } from './clients.ts';
import type { IncidentEvidence } from './recorded-events.ts';
import { aboutInterruption } from './interruption-findings.ts';
import { interruptionsOf } from './interruptions.ts';
import { sessionsMoved } from './move-findings.ts';
import { readsLate } from './read-findings.ts';
import { planFindings } from './plan-findings.ts';

export function findingsOf(evidence: IncidentEvidence): readonly Finding[] {
  const interruptions = interruptionsOf(evidence);
  return [
    ...interruptions.flatMap((interruption) => aboutInterruption(interruption, evidence)),
    ...planFindings(interruptions, evidence),
    ...timelines(evidence),
    ...sessionsMoved(evidence),
    ...readsLate(evidence),
    ...sessionsCut(evidence),
    ...loginsRefused(evidence),
    ...holds(evidence),
    ...refusedMembers(evidence),
    ...clientsRefused(evidence),
  ];
}
