// Times, durations and titles of incidents. Pure.
import type { IncidentDocument } from '../../documents/incident-list.ts';
import { durationText } from '../view/words.ts';

export type IncidentFinding = IncidentDocument['findings'][number];

const TITLES: Readonly<Record<IncidentFinding['finding'], string>> = {
  no_route: 'No route',
  no_service: 'No service',
  old_primary: 'Old primary',
  decision: 'Decision',
  next_primary: 'Next primary',
  first_client: 'First client served',
  timelines: 'Timelines',
  members_refused: 'Members not used',
  sessions_moved: 'Sessions moved',
  reads_late: 'Late reads',
  sessions_cut: 'Sessions cut',
  logins_refused: 'Logins refused',
  holds: 'Clients that waited',
  clients_refused: 'Clients refused',
  plan: 'Planned or not',
};

/** Several interruptions of one incident are numbered. */
export function findingTitle(finding: IncidentFinding, interruptions: number): string {
  const title = TITLES[finding.finding];
  const number = 'interruption' in finding ? finding.interruption : null;
  return interruptions > 1 && number !== null ? `${title} (${number} of ${interruptions})` : title;
}

export function interruptionsIn(findings: readonly IncidentFinding[]): number {
  return findings.reduce((most, one) => Math.max(most, ('interruption' in one && one.interruption) || 0), 0);
}

/** In UTC: 14:03:59.123 */
export function clockText(iso: string): string {
  return iso.slice(11, 23);
}

/** settled after 62 s, or open. */
export function stateText({ state, opened_at: opened, settled_at: settled }: IncidentDocument): string {
  if (settled === null) return state;
  return `${state} after ${durationText(Date.parse(settled) - Date.parse(opened))}`;
}
