// The sentences that say why: the same words in the client's DETAIL, in /status, in `pointsman explain` and in the log line of a change.
// Each says what is so, on what evidence and how old, and the rule that decides: clauses with `; ` between them. Ages are rendered here,
// from the instants the decision carries.
import { sizeText } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberRefusal, MemberRefusalReason } from '../model/member.ts';
import { AGREEMENT_MS } from './refused-primary.ts';
import type { RefusedPrimary } from './refused-primary.ts';
import type { PoolDecision, Route } from './routing-table.ts';
import type { JudgedAnswer, Why, WhyCode, Evidence } from './why.ts';
import type { Standing } from './standing.ts';

/** What is so; CHECK stands for the pool's. */
const WORDS: Readonly<Record<WhyCode, string>> = {
  positive: 'answers CHECK',
  invalid_weight: 'its weight is no number from 0.001 to 1000000 and counts as 1',
  vouched: 'API silent, PostgreSQL accepts and another member names it leader',
  fallback: 'stands in for the pool by fallback',
  least_lagging: 'lags least, while every member lags too far behind',
  never_answered: 'has not answered yet',
  no_answer: 'no answer',
  vanished: 'no answer from the API and the PostgreSQL port',
  refused: 'API and PostgreSQL refuse the connection',
  other_cluster: 'answers for another cluster',
  no_postgres_address: 'PostgreSQL address unknown',
  not_holding_the_check: 'answers no to CHECK',
  promoting: 'holds the leader lock, promotion not finished',
  not_running: 'PostgreSQL is not running',
  wrong_role: 'role does not fit CHECK',
  tagged_out: 'excluded by its tags',
  lagging: 'lags too far behind',
  other_timeline: "not on the primary's timeline",
  superseded: 'another primary is proven on a higher timeline',
  two_primaries: 'two members answer as primary on one timeline',
  exclusive_elsewhere: 'serves an exclusive pool',
  rising: 'answers CHECK again, not yet often enough',
  drained: 'drained by the operator',
  switchover_due: 'scheduled to hand over',
};

/** For a client that has not authenticated: no address, no port. */
const REFUSED_WORDS: Readonly<Record<Exclude<MemberRefusalReason, 'contact_point'>, string>> = {
  api_port: 'API port not allowed by cluster.allow.ports',
  postgres_port: 'PostgreSQL port not allowed by cluster.allow.ports',
  address: 'address not allowed by cluster.allow',
  forbidden_address: 'address that is never contacted',
  unresolved: 'host name cannot be resolved',
  unreadable: 'entry in /cluster cannot be used',
  duplicate: 'name or API of another member',
  too_many: 'too many members',
  not_configured: 'not configured, and discovery is static',
};

/** Refused members that one sentence names. */
const MOST_REFUSED_NAMED = 5;

/** Each from where on it is used, and its length. Milliseconds. */
const UNITS = [
  ['d', 48 * 3_600_000, 24 * 3_600_000],
  ['h', 2 * 3_600_000, 3_600_000],
  ['min', 2 * 60_000, 60_000],
  ['s', 1000, 1000],
] as const;

/** `80 ms`, `2.5 s`, `90 s`, `2.5 min`, `36 h`, `14 d` */
export function durationText(ms: number): string {
  const [unit, , length] = UNITS.find(([, from]) => ms >= from) ?? [undefined, 0, 0];
  return unit === undefined ? `${Math.round(ms)} ms` : `${Number((ms / length).toFixed(1))} ${unit}`;
}

export function describeStanding(standing: Standing, now: Instant): string {
  const { why } = standing;
  const clauses = [reason(standing, now), evidence(why, now), rule(standing, now)];
  return clauses.filter((clause) => clause !== undefined).join('; ');
}

/** `members seen: pg-1 (no answer for 4 s); not used: pg-2 (PostgreSQL port not allowed by cluster.allow.ports)` */
export function describeMembers(decision: PoolDecision | undefined, now: Instant): string {
  const parts = [...(decision?.standings ?? [])].map(
    ([member, standing]) => `${member} (${describeStanding(standing, now)})`,
  );
  const seen = parts.length === 0 ? 'members seen: none' : `members seen: ${parts.join(', ')}`;
  const refused = describeRefused(decision?.refused ?? []);
  return refused === undefined ? seen : `${seen}; ${refused}`;
}

function describeRefused(refused: readonly MemberRefusal[]): string | undefined {
  const named = refused.flatMap(({ name, reason }) =>
    reason === 'contact_point' ? [] : [`${name} (${REFUSED_WORDS[reason]})`],
  );
  if (named.length === 0) return undefined;
  const others = named.length - MOST_REFUSED_NAMED;
  const end = others > 0 ? ` and ${others} others` : '';
  return `not used: ${named.slice(0, MOST_REFUSED_NAMED).join(', ')}${end}`;
}

/** Why it is out, in one word: the key of `on_leave`, or `not_primary` of a member that has never been the primary. */
export function leaveWord(standing: Standing): string | undefined {
  if (standing.kind !== 'leave') return undefined;
  return standing.neverPrimary === true ? 'not_primary' : standing.cause;
}

/**
 * `takes sessions`, `takes no new sessions, keeps its live ones`, `is out (demoted)`; of an idle fallback `takes no
 * sessions`
 */
export function standingText(kind: Standing['kind'], cause: string | undefined): string {
  switch (kind) {
    case 'open':
      return 'takes sessions';
    case 'keep':
      return 'takes no new sessions, keeps its live ones';
    case 'leave':
      if (cause === 'not_primary') return 'is not the primary';
      return cause === 'fallback_over' ? 'takes no sessions' : `is out (${cause})`;
  }
}

/** `open on pg-2, pg-3, by fallback to pool write` */
export function describeRoute(route: Route): string {
  switch (route.kind) {
    case 'open': {
      const lent = route.fallback === undefined ? '' : `, by fallback to pool ${route.fallback.pool}`;
      const late = route.lagging === undefined ? '' : ', although every member lags';
      return `open on ${route.targets.map((target) => target.member).join(', ')}${lent}${late}`;
    }
    case 'hold':
      return `no member, clients wait (${route.cause})`;
    case 'closed':
      return 'no member, clients are refused (every member gave a definite no)';
  }
}

/** What is refused and why: `answers as the primary with timeline 5, but timeline 6 was seen before` */
export function describeRefusal({ shown, expected }: RefusedPrimary): string {
  return `answers as the primary with ${shown}, but ${expected} was seen before`;
}

/** One clause for each thing that would end the refusal. */
export function refusalEnds({ kind, missing, agreedSince }: RefusedPrimary, now: Instant): readonly string[] {
  const leftMs = agreedSince === undefined ? 0 : Math.max(0, agreedSince + AGREEMENT_MS - now);
  const agreement =
    agreedSince === undefined
      ? `agreement of the members for ${durationText(AGREEMENT_MS)}, which lacks: ${missing.join('; ')}`
      : `agreement of the members, if it lasts ${durationText(leftMs)} more`;
  return [agreement, `pointsman accept ${kind}`];
}

function since(at: Instant, now: Instant): string {
  return durationText(Math.max(0, now - at));
}

/** Of these the answer itself says it all. */
const SAID_BY_THE_ANSWER: readonly WhyCode[] = ['positive', 'rising', 'not_holding_the_check'];

function reason({ kind, why }: Standing, now: Instant): string | undefined {
  if (why.evidence?.answer !== undefined && SAID_BY_THE_ANSWER.includes(why.code)) return undefined;
  // One that is not in use only keeps the sessions that came while it was.
  const isIdleFallback = kind !== 'open' && why.code === 'fallback';
  const words = (isIdleFallback ? "stands by as the pool's fallback" : WORDS[why.code]).replace(
    'CHECK',
    why.evidence?.check ?? 'the check',
  );
  const age = why.since === undefined ? '' : ageText(why.code, why.since, now);
  const detail = why.detail === undefined ? '' : `: ${why.detail}`;
  return `${words}${age}${detail}`;
}

/** A switchover may lie ahead. */
function ageText(code: WhyCode, at: Instant, now: Instant): string {
  if (code === 'drained') return ` ${since(at, now)} ago`;
  if (code !== 'switchover_due') return ` for ${since(at, now)}`;
  return at > now ? ` in ${durationText(at - now)}` : ` ${since(at, now)} ago`;
}

function answerText({ to, status, at }: JudgedAnswer, now: Instant): string {
  return `answered ${status} to ${to} ${since(at, now)} ago`;
}

/** On what it rests, how old. */
function evidence({ code, evidence: known }: Why, now: Instant): string | undefined {
  if (known === undefined) return undefined;
  const { vouch, mismatchAt, yesAt, answer, check } = known;
  if (code === 'vouched')
    return vouch === undefined ? undefined : `named leader and running ${since(vouch.at, now)} ago`;
  if (code === 'other_cluster')
    return mismatchAt === undefined ? undefined : `it said so ${since(mismatchAt, now)} ago`;
  if (code === 'no_answer' || code === 'vanished') {
    return yesAt === undefined ? `never a yes to ${check}` : `last yes to ${check} ${since(yesAt, now)} ago`;
  }
  return answer === undefined ? undefined : answerText(answer, now);
}

/** The bound that decides, and what it decides. */
function rule(standing: Standing, now: Instant): string | undefined {
  const { code, evidence: known } = standing.why;
  if (known === undefined) return undefined;
  const grace = `live ones end at ${durationText(known.graceMs)}`;
  switch (code) {
    case 'positive':
    case 'invalid_weight':
      return whyOpen(known, now);
    case 'vouched':
      return `counts as a yes for ${durationText(known.freshMs)}`;
    case 'no_answer':
      return standing.kind === 'leave' ? `sessions end at ${durationText(known.graceMs)}` : clocks(known);
    case 'vanished':
      return 'sessions end because another member answers';
    case 'drained':
      return 'no new sessions until it is resumed';
    case 'switchover_due':
      return 'new clients wait for the next primary';
    case 'refused':
      return 'dead until it answers again';
    case 'lagging':
    case 'least_lagging':
      return known.lag === undefined ? undefined : lagText(known.lag);
    case 'not_running':
      return standing.kind === 'keep' ? 'live sessions are left to PostgreSQL' : undefined;
    case 'two_primaries':
      return `no new sessions until one yields, ${grace}`;
    case 'rising':
      return known.streak && `${known.streak.count} of ${known.streak.needed} in a row that bring it in`;
    case 'fallback':
    case 'never_answered':
    case 'other_cluster':
    case 'no_postgres_address':
    case 'not_holding_the_check':
    case 'promoting':
    case 'wrong_role':
    case 'tagged_out':
    case 'other_timeline':
    case 'superseded':
    case 'exclusive_elsewhere':
      return undefined;
  }
}

function clocks({ freshMs, graceMs, isExclusive }: Evidence): string {
  const stop = isExclusive ? 'new sessions stop at' : 'new sessions go to other members first and stop at';
  return `${stop} ${durationText(freshMs)}, live ones end at ${durationText(graceMs)}`;
}

function whyOpen(known: Evidence, now: Instant): string | undefined {
  const { silentSince, isYes, streak, isExclusive, timeline, lag } = known;
  if (silentSince !== undefined) return `no answer for ${since(silentSince, now)}: ${clocks(known)}`;
  if (isYes === false && streak !== undefined) return `${streak.count} of ${streak.needed} in a row that take it out`;
  if (isExclusive) return timeline === undefined ? 'nobody else does' : `alone on timeline ${timeline}`;
  return lag && lagText(lag);
}

function lagText({ bytes, boundBytes }: NonNullable<Evidence['lag']>): string {
  return `lag ${sizeText(bytes)} by our own reckoning, bound ${sizeText(boundBytes)}`;
}
