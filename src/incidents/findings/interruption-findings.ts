// The story of one interruption: the old primary's answers, the decision, the next primary, the first client.
import type { Finding, IncidentEvent } from '../schema.ts';
import { clockText, idsOf, lastTime, ms, secondsBetween, secondsText, text } from './document-evidence.ts';
import type { Evidence } from './document-evidence.ts';
import type { Interruption } from './interruptions.ts';

/** The evidence about the old primary begins at most so long before the loss of the route. */
const BEFORE_MS = 60_000;
/** Clients notice a dead server before probes do, by at most so much. */
const SIGNS_MS = 10_000;

export function aboutInterruption(one: Interruption, evidence: Evidence): readonly Finding[] {
  if (!one.pool.exclusive) return [noRoute(one)];
  return [
    noRoute(one),
    ...noService(one, evidence),
    ...oldPrimary(one, evidence),
    ...decision(one, evidence),
    ...nextPrimary(one, evidence),
    ...firstClient(one, evidence),
  ];
}

function noRoute({ number, pool, from, to, cause, lost, reopened }: Interruption): Finding {
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

/** Of the pool, about the old primary, shortly before the loss: connections that broke or were refused. */
function firstSign(
  { pool, from, before, earliest = '' }: Interruption,
  { events }: Evidence,
): IncidentEvent | undefined {
  return events.find(
    (event) =>
      (event.event === 'dial_finished' || event.event === 'session_closed') &&
      text(event, 'pool') === pool.name &&
      text(event, 'member') === before &&
      event.time >= earliest &&
      event.time <= from &&
      ms(event.time) >= ms(from) - SIGNS_MS,
  );
}

function firstSession({ pool, to, from }: Interruption, { events }: Evidence): IncidentEvent | undefined {
  if (to === undefined) return undefined;
  return events.find(
    (event) => event.event === 'session_opened' && text(event, 'pool') === pool.name && event.time >= to && to >= from,
  );
}

function noService(one: Interruption, evidence: Evidence): readonly Finding[] {
  const { negative } = firstNegative(one, evidence);
  const signs = [firstSign(one, evidence), negative].filter((event) => event !== undefined && event.time <= one.from);
  const [sign] = signs.toSorted((a, b) => ms(a?.time ?? '') - ms(b?.time ?? ''));
  const served = firstSession(one, evidence);
  if (sign === undefined && served === undefined) return [];
  const from = sign?.time ?? one.from;
  const to = served?.time ?? null;
  const seconds = to === null ? null : secondsBetween(from, to);
  const until = to === null ? 'No new client has connected since.' : `The first client was served at ${clockText(to)}`;
  const lasted = seconds === null ? '' : `, ${secondsText(seconds)} later.`;
  return [
    {
      finding: 'no_service',
      interruption: one.number,
      pool: one.pool.name,
      from,
      to,
      seconds,
      event_ids: idsOf([sign ?? one.lost, served]),
      text: `The first recorded sign of trouble for pool ${one.pool.name} was at ${clockText(from)}. ${until}${lasted}`,
    },
  ];
}

/**
 * The old primary's last yes, and its first other answer or failed probe after that. A fault of our own machine is
 * neither. The yes may come after the loss of the route: a switchover takes it away before the primary steps down.
 */
function firstNegative({ pool, from, to, before, earliest = '' }: Interruption, { events }: Evidence): Answers {
  const probes = events.filter(
    (event) =>
      event.event === 'probe_finished' && text(event, 'member') === before && text(event, 'outcome') !== 'local',
  );
  const positive = probes.findLast(
    (event) => text(event, 'outcome') === 'yes' && text(event, 'check') === pool.check && event.time <= from,
  );
  const since = positive === undefined ? earliest : lastTime(positive);
  const negative = probes.find(
    (event) =>
      text(event, 'outcome') !== 'yes' &&
      (text(event, 'outcome') !== 'no' || text(event, 'check') === pool.check) &&
      event.time >= since &&
      (to === undefined || event.time <= to) &&
      ms(lastTime(event)) >= ms(from) - BEFORE_MS,
  );
  return { positive, negative };
}

interface Answers {
  readonly positive: IncidentEvent | undefined;
  readonly negative: IncidentEvent | undefined;
}

function oldPrimary(one: Interruption, evidence: Evidence): readonly Finding[] {
  const { number, before: member } = one;
  if (member === undefined) return [];
  const { negative, positive } = firstNegative(one, evidence);
  // It went on answering: clients were held for another reason than its answers.
  const yesUntil = positive === undefined ? null : lastTime(positive);
  const keptAnswering = yesUntil !== null && one.to !== undefined && yesUntil >= one.to;
  const lastPositive = keptAnswering ? one.to : yesUntil;
  const outcome = negative === undefined ? null : (text(negative, 'outcome') ?? null);
  const yes = lastPositive === null ? 'is not recorded' : `was at ${clockText(lastPositive)}`;
  const no = negative === undefined ? 'is not recorded' : `at ${clockText(negative.time)}: ${outcome}`;
  return [
    {
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
    },
  ];
}

function standingChange(
  { pool }: Interruption,
  { events }: Evidence,
  member: string | undefined,
  field: 'from' | 'to',
  until: string,
): IncidentEvent | undefined {
  return events.findLast(
    (event) =>
      event.event === 'standing_changed' &&
      text(event, 'pool') === pool.name &&
      text(event, 'member') === member &&
      text(event, field) === 'open' &&
      event.time <= until,
  );
}

function decision(one: Interruption, evidence: Evidence): readonly Finding[] {
  const { number, pool, before: member, lost, from } = one;
  if (member === undefined || lost === undefined) return [];
  const change = standingChange(one, evidence, member, 'from', from);
  if (change === undefined) return [];
  return [
    {
      finding: 'decision',
      interruption: number,
      pool: pool.name,
      member,
      time: change.time,
      reason: text(change, 'reason') ?? 'unknown',
      event_ids: idsOf([change, lost]),
      text: `No new sessions for ${member} from ${clockText(change.time)} on: ${change.message}.`,
    },
  ];
}

function nextPrimary(one: Interruption, evidence: Evidence): readonly Finding[] {
  const { number, pool, before, after: member, reopened } = one;
  if (member === undefined || reopened === undefined) return [];
  const proof = standingChange(one, evidence, member, 'to', reopened.time);
  const isSame = member === before;
  const what = isSame ? `New sessions go to ${member} again` : `New sessions go to ${member}, the next primary,`;
  return [
    {
      finding: 'next_primary',
      interruption: number,
      pool: pool.name,
      member,
      time: reopened.time,
      same: isSame,
      event_ids: idsOf([proof, reopened]),
      text: `${what} from ${clockText(reopened.time)} on${proof === undefined ? '' : `: ${proof.message}`}.`,
    },
  ];
}

function firstClient(one: Interruption, evidence: Evidence): readonly Finding[] {
  const served = firstSession(one, evidence);
  const member = served === undefined ? undefined : text(served, 'member');
  if (served === undefined || member === undefined) return [];
  const said = `The first client of pool ${one.pool.name} was served on ${member} at ${clockText(served.time)}.`;
  return [
    {
      finding: 'first_client',
      interruption: one.number,
      pool: one.pool.name,
      member,
      time: served.time,
      event_ids: idsOf([served]),
      text: said,
    },
  ];
}
