// Planned or not: the one judgement about the loss of a primary. A loss is planned if an operator, or a schedule of the
// cluster, wanted it. The cause of the hold says so for the operations of this Pointsman, a drain and a scheduled
// switchover. A switchover by another tool leaves the reports of the members alone. Incidents say why. Pure.
import { isPlanned } from '../core/routing-table.ts';
import { parseCheck } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import type { ScheduledSwitchover } from '../model/observation.ts';
import { ofKind, type EventOf, type Plan, type ReportedEvent } from '../reports/events.ts';
import type { Interruption } from './route-history.ts';

export const PLANNED_BY = [
  'pointsman_switchover',
  'pointsman_restart',
  'scheduled_switchover',
  'operator_drain',
  'cluster_manager',
] as const;

/** An event, or several equal ones. */
export interface Witness {
  readonly number: number;
  readonly event: ReportedEvent;
  readonly at: Instant;
  readonly last: { readonly at: Instant };
}

export interface PlanJudgement {
  readonly planned: Plan;
  /** Undefined: not planned, or unknown. */
  readonly by: (typeof PLANNED_BY)[number] | undefined;
  readonly why: string;
  /** The judgement rests on these. */
  readonly evidence: readonly Witness[];
}

/** Evidence about a loss begins at most so long before it. Milliseconds. */
const BEFORE_MS = 30_000;
/** A scheduled switchover begins at most so long after its time. Milliseconds. */
const LATE_MS = 30_000;
/**
 * A member that stops because it cannot reach the store of the leader lock has tried for some seconds: Patroni's
 * `retry_timeout` is at least 3 s.
 */
const CONTACT_MS = 1500;
/** A member that stops in order may miss probes for this long. Milliseconds. */
const MISSED_MS = 1000;

type RouteLoss = Pick<Interruption, 'from' | 'to' | 'cause' | 'before' | 'after' | 'precedingEnd'>;

/** `events`: in the order of their times. `scheduled`: the switchovers that the cluster had scheduled at the loss. */
export function judgement(
  loss: RouteLoss,
  events: readonly Witness[],
  scheduled: readonly ScheduledSwitchover[],
): PlanJudgement {
  const around = events.filter((one) => isAround(one, loss));
  return byCause(loss, around) ?? byOrder(loss, around, scheduled) ?? byReports(loss, around);
}

/** The time of the switchover that was due at the loss. */
export function dueSwitchover(
  { from, before }: RouteLoss,
  scheduled: readonly ScheduledSwitchover[],
): ScheduledSwitchover | undefined {
  return scheduled.find(({ at, leader }) => leader === before && from.at <= at + LATE_MS && from.at >= at - BEFORE_MS);
}

/** From shortly before the loss of the route to the end of the interruption. */
function isAround({ at, last }: Witness, { from, to, precedingEnd = -Infinity }: RouteLoss): boolean {
  return last.at >= precedingEnd && last.at >= from.at - BEFORE_MS && (to === undefined || at <= to.at);
}

/** Clients are held because an operator, or the schedule, wants it. */
function byCause({ before, cause }: RouteLoss, around: readonly Witness[]): PlanJudgement | undefined {
  if (!isPlanned({ kind: 'hold', cause })) return undefined;
  const member = before ?? 'the primary';
  const restart = `A restart of ${member} was requested through this Pointsman.`;
  if (cause === 'restart') return judged('planned', restart, [], 'pointsman_restart');
  if (cause === 'switchover') return byOperation(around) ?? bySchedule(around);
  // Without an order for this member, a member that was drained before has become the primary.
  const order = ofKind(around, 'member_drained').findLast(({ event }) => event.member === before);
  return order && judged('planned', `An operator drained ${member}.`, [order], 'operator_drain');
}

/** The hold for the operation was over, or none was there, when the primary stopped. */
function byOrder(
  loss: RouteLoss,
  around: readonly Witness[],
  scheduled: readonly ScheduledSwitchover[],
): PlanJudgement | undefined {
  const isSent = ofKind(around, 'operation_phase').some(({ event }) => event.phase === 'switch');
  const isDue = dueSwitchover(loss, scheduled) !== undefined || due(around) !== undefined;
  return (isSent ? byOperation(around) : undefined) ?? (isDue ? bySchedule(around) : undefined);
}

function byOperation(around: readonly Witness[]): PlanJudgement | undefined {
  const started = ofKind(around, 'operation_started').at(-1);
  if (started === undefined) return undefined;
  const sent = ofKind(around, 'operation_phase').findLast(({ event }) => event.phase === 'switch');
  const why = `The switchover ${started.event.operation} was requested through this Pointsman.`;
  return judged('planned', why, [started, sent], 'pointsman_switchover');
}

function bySchedule(around: readonly Witness[]): PlanJudgement {
  return judged(
    'planned',
    'The cluster reported a switchover that was scheduled.',
    [due(around)],
    'scheduled_switchover',
  );
}

function due(around: readonly Witness[]): Witness | undefined {
  return ofKind(around, 'standing_changed').find(({ event }) => event.to.why.code === 'switchover_due');
}

/** States of a server that is told to stop. */
const IN_ORDER: ReadonlySet<string> = new Set(['stopping', 'stopped', 'restarting']);
const BROKEN: ReadonlySet<string> = new Set(['crashed', 'start failed']);

/** Without an order that left evidence: the reports of the members, in the order in which they changed. */
function byReports({ before: member, after, cause }: RouteLoss, around: readonly Witness[]): PlanJudgement {
  if (cause === 'two_primaries') return judged('unplanned', 'Two members claimed to be the primary.');
  if (member === undefined) return judged('unknown', 'The member that was the primary before is not recorded.');
  const reports = ofKind(around, 'member_reported');
  const own = reports.filter(({ event }) => event.member === member);
  const stopped = own.find(({ event }) => IN_ORDER.has(event.state ?? ''));
  const probes = ofKind(around, 'probe_finished').filter(({ event }) => event.member === member);
  const failure = failureBefore(member, stopped, probes, reports);
  if (failure !== undefined) return failure;
  if (stopped === undefined) {
    return judged(
      'unknown',
      `${member} kept answering, and its reports do not tell why it was no primary any more.`,
      own,
    );
  }
  const { state, isUnlocked, storeUnseenMs = Infinity } = stopped.event;
  if (isUnlocked && storeUnseenMs > CONTACT_MS) {
    const how = `${member} reported a stop, and in the same answer that nobody held the leader lock`;
    return judged('unknown', `${how}: a switchover, or a failure of the store of the lock.`, [stopped]);
  }
  // A read that began before the stop may fail long after it: a member waits for the store until a time limit.
  const unread = ofKind(around, 'discovery_finished').find(({ event }) => event.detail !== undefined);
  if (unread !== undefined) {
    const how = `${member} reported a stop in order, but the member list could not be read`;
    return judged('unknown', `${how}: the store of the leader lock may have failed.`, [unread, stopped]);
  }
  const silent = probes.find((probe) => isSilence(probe) && !isMissed(probe, probes));
  if (silent !== undefined) {
    const how = `${member} reported a stop in order, and then did not answer (${silent.event.outcome})`;
    return judged('unknown', `${how}: a person may have stopped the service or the machine.`, [stopped, silent]);
  }
  if (after === undefined)
    return judged('unknown', `${member} reported a stop in order; no next primary is known yet.`, [stopped]);
  const what = member === after ? 'A restart' : 'A switchover';
  const lock = isUnlocked ? 'just after a contact with the store of' : 'while it held';
  const answered = probes.some(isSilence) ? 'and went on answering' : 'and answered every probe';
  const how = `${member} reported "${state}" ${lock} the leader lock, ${answered}`;
  const like = `${what} that somebody requests from the cluster manager looks like this.`;
  return judged('planned', `Concluded from reports: ${how}. ${like}`, [stopped, ...own], 'cluster_manager');
}

type ProbeEvidence = Witness & { readonly event: EventOf<'probe_finished'> };
type MemberReportEvidence = Witness & { readonly event: EventOf<'member_reported'> };

function isAnswer({ event }: ProbeEvidence): boolean {
  return event.outcome === 'yes' || event.outcome === 'no';
}

function isPrimary({ event }: ProbeEvidence): boolean {
  const parsed = parseCheck(event.check);
  return event.outcome === 'yes' && parsed.kind === 'check' && parsed.check.family === 'primary';
}

/** A fault of our own machine is no silence. */
function isSilence(probe: ProbeEvidence): boolean {
  return !isAnswer(probe) && probe.event.outcome !== 'local';
}

/** The member answered again soon. A server whose ports refuse has stopped. */
function isMissed({ event, at, last }: ProbeEvidence, probes: readonly ProbeEvidence[]): boolean {
  const isAnsweredSoon = probes.some((one) => isAnswer(one) && one.last.at >= last.at && one.at <= at + MISSED_MS);
  return event.outcome !== 'refused' && isAnsweredSoon;
}

/** A failure before the old primary reported a stop. */
function failureBefore(
  member: string,
  stopped: Witness | undefined,
  probes: readonly ProbeEvidence[],
  reports: readonly MemberReportEvidence[],
): PlanJudgement | undefined {
  const isBefore = ({ at }: Witness): boolean => stopped === undefined || at < stopped.at;
  const earlier = reports.filter(isBefore);
  const broken = earlier.find(({ event }) => event.member === member && BROKEN.has(event.state ?? ''));
  if (broken !== undefined)
    return judged('unplanned', `${member} reported the state "${broken.event.state}".`, [broken]);
  const silent = probes.find(isSilence);
  if (silent !== undefined && isBefore(silent)) {
    const how = `${member} gave no answer (${silent.event.outcome})`;
    return judged('unplanned', `${how}, and had not reported a stop before.`, [silent]);
  }
  const unlocked = earlier.find((one) => one.event.isUnlocked && !isHeldAgain(one, earlier, probes));
  if (unlocked === undefined) return undefined;
  const by = `${unlocked.event.member} reported that nobody held it`;
  // Each member is probed at its own time: the old primary may have stopped before another one reported the lock.
  const isProven =
    unlocked.event.member === member || probes.some((probe) => isPrimary(probe) && probe.last.at > unlocked.at);
  if (isProven) {
    return judged('unplanned', `The leader lock was lost before ${member} reported a stop: ${by}.`, [unlocked]);
  }
  const like = 'a switchover, or a failure of the store of the lock';
  return judged('unknown', `The leader lock was lost at about the time of the stop of ${member}: ${by}: ${like}.`, [
    unlocked,
  ]);
}

/** The report was late, about an earlier loss of the lock: `probes` show the same primary after its correction. */
function isHeldAgain(
  { event: { member }, at }: MemberReportEvidence,
  reports: readonly MemberReportEvidence[],
  probes: readonly ProbeEvidence[],
): boolean {
  const corrected = reports.find(({ event, ...one }) => event.member === member && !event.isUnlocked && one.at > at);
  return corrected !== undefined && probes.some((probe) => isPrimary(probe) && probe.last.at > corrected.at);
}

function judged(
  planned: Plan,
  why: string,
  evidence: readonly (Witness | undefined)[] = [],
  by?: (typeof PLANNED_BY)[number],
): PlanJudgement {
  return { planned, by, why, evidence: evidence.filter((one) => one !== undefined) };
}
