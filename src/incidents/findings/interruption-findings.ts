// The story of one interruption: the old primary's answers, the decision, the next primary, the first client.
import { ofKind } from '../../reports/events.ts';
import type { Finding } from '../schema.ts';
import type { RecordedInterruption } from './interruptions.ts';
import { clockText, idsOf, ms, secondsBetween, secondsText, type IncidentEvidence } from './recorded-events.ts';

/** The evidence about the old primary begins at most this long before the loss of the route. Milliseconds. */
const BEFORE_MS = 60_000;
/** Clients can notice a dead server this long before the probes do. Milliseconds. */
const SIGNS_MS = 10_000;

export function aboutInterruption(one: RecordedInterruption, evidence: IncidentEvidence): readonly Finding[] {
  if (!one.pool.exclusive) return [noRoute(one)];
  const parts = [noService, oldPrimary, decision, nextPrimary, firstClient];
  return [noRoute(one), ...parts.flatMap((part) => part(one, evidence) ?? [])];
}

function noRoute({ number, pool, from, to, loss: { cause }, lost, reopened }: RecordedInterruption): Finding {
  const seconds = to === undefined ? null : secondsBetween(from, to);
  const what = `Pool ${pool.name} had no route`;
  const since = `${what} from ${clockText(from)}`;
  const text =
    to === undefined || seconds === null
      ? `${since} on; it has none yet.`
      : cause === 'none'
        ? `Pool ${pool.name} changed its member at ${clockText(from)} without a time in between.`
        : `${since} to ${clockText(to)}: ${secondsText(seconds)}.`;
  return {
    finding: 'no_route',
    interruption: number,
    pool: pool.name,
    write: pool.exclusive,
    from,
    to: to ?? null,
    seconds,
    cause,
    event_ids: idsOf([lost, reopened]),
    text,
  };
}

/** The first connection of the pool to the old primary that broke or was refused, shortly before the loss. */
function firstSign({ pool, from, loss, earliest = '' }: RecordedInterruption, { events }: IncidentEvidence) {
  return events.find(
    ({ event, time }) =>
      (event.kind === 'dial_finished' || event.kind === 'session_closed') &&
      event.pool === pool.name &&
      event.member === loss.before &&
      time >= earliest &&
      time <= from &&
      ms(time) >= ms(from) - SIGNS_MS,
  );
}

function firstSession({ pool, to }: RecordedInterruption, { events }: IncidentEvidence) {
  const opened = ofKind(events, 'session_opened');
  return to === undefined ? undefined : opened.find(({ event, time }) => event.pool === pool.name && time >= to);
}

function noService(one: RecordedInterruption, evidence: IncidentEvidence): Finding | undefined {
  const { negative } = firstNegative(one, evidence);
  const signs = [firstSign(one, evidence), negative].filter((event) => event !== undefined && event.time <= one.from);
  const [sign] = signs.toSorted((a, b) => ms(a?.time ?? '') - ms(b?.time ?? ''));
  const served = firstSession(one, evidence);
  if (sign === undefined && served === undefined) return undefined;
  const from = sign?.time ?? one.from;
  const to = served?.time ?? null;
  const seconds = to === null ? null : secondsBetween(from, to);
  const until = to === null ? 'No new client has connected since.' : `The first client was served at ${clockText(to)}`;
  const lasted = seconds === null ? '' : `, ${secondsText(seconds)} later.`;
  return {
    finding: 'no_service',
    interruption: one.number,
    pool: one.pool.name,
    from,
    to,
    seconds,
    event_ids: idsOf([sign ?? one.lost, served]),
    text: `The first recorded sign of trouble for pool ${one.pool.name} was at ${clockText(from)}. ${until}${lasted}`,
  };
}

/**
 * The old primary's last yes, and its first other answer or failed probe after that. A fault of our own machine is
 * neither. The yes may come after the loss of the route: a switchover takes it away before the primary steps down.
 */
function firstNegative(one: RecordedInterruption, evidence: IncidentEvidence) {
  const { pool, from, to, earliest = '' } = one;
  const probes = ofKind(evidence.events, 'probe_finished').filter(
    ({ event }) => event.member === one.loss.before && event.outcome !== 'local',
  );
  const positive = probes.findLast(
    ({ event, time }) => event.outcome === 'yes' && event.check === pool.check && time <= from,
  );
  const since = positive?.lastTime ?? earliest;
  const negative = probes.find(
    ({ event, time, lastTime }) =>
      event.outcome !== 'yes' &&
      (event.outcome !== 'no' || event.check === pool.check) &&
      time >= since &&
      (to === undefined || time <= to) &&
      ms(lastTime) >= ms(from) - BEFORE_MS,
  );
  return { positive, negative };
}

function oldPrimary(one: RecordedInterruption, evidence: IncidentEvidence): Finding | undefined {
  const { number, loss } = one;
  const member = loss.before;
  if (member === undefined) return undefined;
  const { negative, positive } = firstNegative(one, evidence);
  // It went on answering: clients were held for another reason than its answers.
  const yesUntil = positive?.lastTime ?? null;
  const keptAnswering = yesUntil !== null && one.to !== undefined && yesUntil >= one.to;
  const lastPositive = keptAnswering ? one.to : yesUntil;
  const outcome = negative?.event.outcome ?? null;
  const yes = lastPositive === null ? 'is not recorded' : `was at ${clockText(lastPositive)}`;
  const no = negative === undefined ? 'is not recorded' : `at ${clockText(negative.time)}: ${outcome}`;
  return {
    finding: 'old_primary',
    interruption: number,
    member,
    last_positive: lastPositive,
    first_negative: negative?.time ?? null,
    outcome,
    event_ids: idsOf([positive, negative]),
    text: keptAnswering
      ? `${member} answered yes all the time.`
      : `The last positive answer of ${member} ${yes}, its first negative one ${no}.`,
  };
}

function standingChange(
  { pool }: RecordedInterruption,
  evidence: IncidentEvidence,
  member: string,
  field: 'from' | 'to',
  until: string,
) {
  return ofKind(evidence.events, 'standing_changed').findLast(
    ({ event, time }) =>
      event.pool === pool.name && event.member === member && event[field]?.kind === 'open' && time <= until,
  );
}

function decision(one: RecordedInterruption, evidence: IncidentEvidence): Finding | undefined {
  const { number, pool, loss, lost, from } = one;
  const member = loss.before;
  if (member === undefined || lost === undefined) return undefined;
  const change = standingChange(one, evidence, member, 'from', from);
  if (change === undefined) return undefined;
  return {
    finding: 'decision',
    interruption: number,
    pool: pool.name,
    member,
    time: change.time,
    reason: change.event.to.why.code,
    event_ids: idsOf([change, lost]),
    text: `No new sessions for ${member} from ${clockText(change.time)} on: ${change.message}.`,
  };
}

function nextPrimary(one: RecordedInterruption, evidence: IncidentEvidence): Finding | undefined {
  const { number, pool, loss, reopened } = one;
  const { before, after: member } = loss;
  if (member === undefined || reopened === undefined) return undefined;
  const proof = standingChange(one, evidence, member, 'to', reopened.time);
  const isSame = member === before;
  const what = isSame ? `New sessions go to ${member} again` : `New sessions go to ${member}, the next primary,`;
  return {
    finding: 'next_primary',
    interruption: number,
    pool: pool.name,
    member,
    time: reopened.time,
    same: isSame,
    event_ids: idsOf([proof, reopened]),
    text: `${what} from ${clockText(reopened.time)} on${proof === undefined ? '' : `: ${proof.message}`}.`,
  };
}

function firstClient(one: RecordedInterruption, evidence: IncidentEvidence): Finding | undefined {
  const served = firstSession(one, evidence);
  const member = served?.event.member;
  if (served === undefined || member === undefined) return undefined;
  const said = `The first client of pool ${one.pool.name} was served on ${member} at ${clockText(served.time)}.`;
  return {
    finding: 'first_client',
    interruption: one.number,
    pool: one.pool.name,
    member,
    time: served.time,
    event_ids: idsOf([served]),
    text: said,
  };
}
