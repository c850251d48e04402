// Planned or not: the judgement of history/planned-or-not.ts about each interruption of a pool of the primary.
import { dueSwitchover, judgement } from '../../history/planned-or-not.ts';
import { ofKind } from '../../reports/events.ts';
import type { Finding, IncidentDocument } from '../schema.ts';
import type { RecordedInterruption } from './interruptions.ts';
import { clockText, idsOf, type IncidentEvidence } from './recorded-events.ts';

export function planFindings(
  interruptions: readonly RecordedInterruption[],
  evidence: IncidentEvidence,
): readonly Finding[] {
  const ofPrimary = interruptions.filter(({ pool }) => pool.exclusive);
  if (ofPrimary.length === 0) return [withoutInterruption(evidence)];
  return ofPrimary.map((one) => planOfOne(one, evidence));
}

/** The plan of the whole incident. */
export function planOf(findings: readonly Finding[]): IncidentDocument['planned'] {
  const plans = findings.flatMap((one) => (one.finding === 'plan' ? [one.planned] : []));
  if (plans.includes('unplanned')) return 'unplanned';
  return plans.every((plan) => plan === 'planned') ? 'planned' : 'unknown';
}

function planOfOne(
  { number, loss, lost }: RecordedInterruption,
  { events, scheduled, time, id }: IncidentEvidence,
): Finding {
  const { planned, by = null, why, evidence } = judgement(loss, events, scheduled);
  const due = by === 'scheduled_switchover' ? dueSwitchover(loss, scheduled) : undefined;
  const text = due === undefined ? why : `${why.slice(0, -1)} for ${clockText(time(due.at))}.`;
  const isOrder = by === 'scheduled_switchover' || by === 'pointsman_restart';
  return {
    finding: 'plan',
    interruption: number,
    planned,
    by,
    event_ids: [...new Set([...evidence.map((one) => id(one.number)), ...idsOf([isOrder ? lost : undefined])])],
    text,
  };
}

function withoutInterruption(evidence: IncidentEvidence): Finding {
  const [drained] = ofKind(evidence.events, 'member_drained');
  const isDrained = drained !== undefined;
  return {
    finding: 'plan',
    interruption: null,
    planned: isDrained ? 'planned' : 'unknown',
    by: isDrained ? 'operator_drain' : null,
    event_ids: idsOf([drained]),
    text: isDrained ? 'An operator drained a member.' : 'No pool of the primary was interrupted.',
  };
}
