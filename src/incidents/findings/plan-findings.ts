// Planned or not, as far as the evidence shows. A switchover of Pointsman, a scheduled one, a restart that moves
// sessions and a drain leave evidence of their own. Of a switchover by another tool there are the reports of the
// members alone.
import type { Finding, FindingOf, IncidentDocument, IncidentEvent, Plan } from '../schema.ts';
import { clockText, idsOf, lastTime, ms, text } from './document-evidence.ts';
import type { Evidence } from './document-evidence.ts';
import type { Interruption } from './interruptions.ts';

type By = FindingOf<'plan'>['by'];

interface Judged {
  readonly planned: Plan;
  readonly by: By;
  readonly text: string;
  readonly events: readonly (IncidentEvent | undefined)[];
}

/** A stop is in order if it began at most so long before the loss of the route. */
const BEFORE_MS = 30_000;
/** A scheduled switchover begins at most so long after its time. */
const LATE_MS = 30_000;

export function planFindings(interruptions: readonly Interruption[], evidence: Evidence): readonly Finding[] {
  const ofPrimary = interruptions.filter(({ pool }) => pool.exclusive);
  if (ofPrimary.length === 0) return [finding(null, withoutInterruption(evidence))];
  return ofPrimary.map((one) => finding(one.number, judged(one, evidence)));
}

/** Of the whole incident. */
export function planOf(findings: readonly Finding[]): IncidentDocument['planned'] {
  const plans = findings.flatMap((one) => (one.finding === 'plan' ? [one.planned] : []));
  if (plans.includes('unplanned')) return 'unplanned';
  return plans.every((plan) => plan === 'planned') ? 'planned' : 'unknown';
}

function finding(interruption: number | null, { planned, by, events, text }: Judged): Finding {
  return { finding: 'plan', interruption, planned, by, event_ids: idsOf(events), text };
}

function withoutInterruption({ events }: Evidence): Judged {
  const drained = events.find((event) => event.event === 'member_drained');
  if (drained === undefined) {
    return { planned: 'unknown', by: null, text: 'No pool of the primary was interrupted.', events: [] };
  }
  return { planned: 'planned', by: 'operator_drain', text: 'An operator drained a member.', events: [drained] };
}

function judged(one: Interruption, evidence: Evidence): Judged {
  const around = inside(one, evidence);
  return (
    restarted(one) ??
    byPointsman(one, around) ??
    scheduled(one, around, evidence) ??
    drained(one, around) ??
    byReports(one, around)
  );
}

/**
 * A member that stops because it cannot reach the store of the leader lock has tried for some seconds: Patroni's
 * `retry_timeout` is at least 3 s.
 */
const CONTACT_MS = 1500;

/** The events from shortly before the loss of the route to the end of the interruption. */
function inside({ from, to, earliest = '' }: Interruption, { events }: Evidence): readonly IncidentEvent[] {
  return events.filter(
    (event) =>
      lastTime(event) >= earliest &&
      ms(lastTime(event)) >= ms(from) - BEFORE_MS &&
      (to === undefined || event.time <= to),
  );
}

/** The cause says all: only a restart that an operator requests here holds clients so. */
function restarted({ before, cause, lost }: Interruption): Judged | undefined {
  if (cause !== 'restart') return undefined;
  const said = `A restart of ${before ?? 'the primary'} was requested through this Pointsman.`;
  return { planned: 'planned', by: 'pointsman_restart', text: said, events: [lost] };
}

function byPointsman({ cause }: Interruption, around: readonly IncidentEvent[]): Judged | undefined {
  const started = around.findLast((event) => event.event === 'operation_started');
  const sent = around.findLast((event) => event.event === 'operation_phase' && text(event, 'phase') === 'switch');
  if (started === undefined || (sent === undefined && cause !== 'switchover')) return undefined;
  const said = `The switchover ${text(started, 'operation') ?? ''} was requested through this Pointsman.`;
  return { planned: 'planned', by: 'pointsman_switchover', text: said, events: [started, sent] };
}

function scheduled(one: Interruption, around: readonly IncidentEvent[], { snapshots }: Evidence): Judged | undefined {
  const due = around.find((event) => event.event === 'standing_changed' && text(event, 'reason') === 'switchover_due');
  const known = snapshots.find(({ scheduled_switchover: at }) => at !== null && isDue(at, one))?.scheduled_switchover;
  if (due === undefined && known === undefined) return undefined;
  const at = known === undefined || known === null ? '' : ` for ${clockText(known.time)}`;
  return {
    planned: 'planned',
    by: 'scheduled_switchover',
    text: `The cluster reported a switchover that was scheduled${at}.`,
    events: [due, one.lost],
  };
}

function isDue(at: { readonly time: string; readonly from: string }, { from, before }: Interruption): boolean {
  return at.from === before && ms(from) <= ms(at.time) + LATE_MS && ms(from) >= ms(at.time) - BEFORE_MS;
}

function drained({ before, cause }: Interruption, around: readonly IncidentEvent[]): Judged | undefined {
  const order = around.findLast((event) => event.event === 'member_drained' && text(event, 'member') === before);
  if (order === undefined || cause !== 'drained') return undefined;
  return { planned: 'planned', by: 'operator_drain', text: `An operator drained ${before}.`, events: [order] };
}

/** Without an order that left evidence: the reports of the members, in the order in which they changed. */
function byReports({ before: member, after, cause }: Interruption, around: readonly IncidentEvent[]): Judged {
  if (cause === 'two_primaries') return unplanned('Two members claimed to be the primary.');
  if (member === undefined) return unknown('The member that was the primary before is not recorded.');
  const reports = around.filter((event) => event.event === 'member_reported');
  const own = reports.filter((event) => text(event, 'member') === member);
  const stopped = own.find((event) => IN_ORDER.has(text(event, 'state') ?? ''));
  const silent = around.find((event) => isSilence(event, member));
  const failure = failureBefore(member, stopped, silent, reports);
  if (failure !== undefined) return failure;
  if (stopped === undefined) {
    return unknown(`${member} kept answering, and its reports do not tell why it was no primary any more.`, own);
  }
  const contact = stopped.fields['store_unseen_ms'];
  const hasContact = typeof contact === 'number' && contact <= CONTACT_MS;
  if (stopped.fields['unlocked'] === true && !hasContact) {
    const how = `${member} reported a stop, and in the same answer that nobody held the leader lock`;
    return unknown(`${how}: a switchover, or a failure of the store of the lock.`, [stopped]);
  }
  // A read that began before the stop may fail long after it: a member waits for the store until a time limit.
  const unread = around.find(isFailedRead);
  if (unread !== undefined) {
    const how = `${member} reported a stop in order, but the member list could not be read`;
    return unknown(`${how}: the store of the leader lock may have failed.`, [unread, stopped]);
  }
  if (silent !== undefined) {
    const how = `${member} reported a stop in order, and then did not answer (${text(silent, 'outcome')})`;
    return unknown(`${how}: a person may have stopped the service or the machine.`, [stopped, silent]);
  }
  if (after === undefined)
    return unknown(`${member} reported a stop in order; no next primary is known yet.`, [stopped]);
  const what = member === after ? 'A restart' : 'A switchover';
  const state = text(stopped, 'state') ?? '';
  const lock = stopped.fields['unlocked'] === true ? 'just after a contact with the store of' : 'while it held';
  const how = `${member} reported "${state}" ${lock} the leader lock, and answered every probe`;
  return {
    planned: 'planned',
    by: 'cluster_manager',
    text: `Concluded from reports: ${how}. ${what} that somebody requests from the cluster manager looks like this.`,
    events: [stopped, ...own],
  };
}

/** States of a server that is told to stop. */
const IN_ORDER: ReadonlySet<string> = new Set(['stopping', 'stopped', 'restarting']);
const BROKEN: ReadonlySet<string> = new Set(['crashed', 'start failed']);
const ANSWERS: ReadonlySet<string> = new Set(['yes', 'no', 'local']);

function isSilence(event: IncidentEvent, member: string): boolean {
  return (
    event.event === 'probe_finished' && text(event, 'member') === member && !ANSWERS.has(text(event, 'outcome') ?? '')
  );
}

function isFailedRead(event: IncidentEvent): boolean {
  return event.event === 'discovery_finished' && text(event, 'detail') !== undefined;
}

/** A failure before the old primary reported a stop. */
function failureBefore(
  member: string,
  stopped: IncidentEvent | undefined,
  silent: IncidentEvent | undefined,
  reports: readonly IncidentEvent[],
): Judged | undefined {
  const earlier = reports.filter((event) => !isAfter(event, stopped));
  const broken = earlier.find((event) => text(event, 'member') === member && BROKEN.has(text(event, 'state') ?? ''));
  if (broken !== undefined) return unplanned(`${member} reported the state "${text(broken, 'state')}".`, broken);
  if (silent !== undefined && !isAfter(silent, stopped)) {
    return unplanned(
      `${member} gave no answer (${text(silent, 'outcome')}), and had not reported a stop before.`,
      silent,
    );
  }
  const unlocked = earlier.find((event) => event.fields['unlocked'] === true);
  if (unlocked === undefined) return undefined;
  const by = `${text(unlocked, 'member')} reported that nobody held it`;
  return unplanned(`The leader lock was lost before ${member} reported a stop: ${by}.`, unlocked);
}

function unknown(why: string, events: readonly (IncidentEvent | undefined)[] = []): Judged {
  return { planned: 'unknown', by: null, text: why, events };
}

function unplanned(why: string, ...events: readonly IncidentEvent[]): Judged {
  return { planned: 'unplanned', by: null, text: why, events };
}

function isAfter(event: IncidentEvent, other: IncidentEvent | undefined): boolean {
  return other !== undefined && event.time >= other.time;
}
