// The sentences that explain a decision. Clients (DETAIL), /status, `pointsman explain` and the log show the same
// words. A sentence has up to three clauses, joined by `; `: the state, the evidence with its age, and the rule that
// applies. Decisions carry instants; ages are computed here, when a sentence is made.
import { failureOf, sizeText } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberRefusal, MemberRefusalReason } from '../model/member.ts';
import { AGES_MS, type MemberLatency } from './latency.ts';
import { AGREEMENT_MS, type RefusedPrimary } from './refused-primary.ts';
import { HOLD_WORDS, type PoolDecision, type Route } from './routing-table.ts';
import { WHY_WORDS, type JudgedAnswer, type Why, type WhyCode, type Evidence } from './why.ts';
import type { Standing } from './standing.ts';

/** Shown to clients that have not authenticated, so without addresses and ports. */
const REFUSED_WORDS: Readonly<Record<Exclude<MemberRefusalReason, 'contact_point'>, string>> = {
  api_port: 'API port not allowed by cluster.allow.ports',
  postgres_port: 'PostgreSQL port not allowed by cluster.allow.ports',
  address: 'address not allowed by cluster.allow',
  forbidden_address: 'forbidden address',
  unresolved: 'host name does not resolve',
  unreadable: 'invalid entry in /cluster',
  duplicate: 'duplicate name or API address',
  too_many: 'too many members',
  not_configured: 'not configured, and discovery is static',
};

/** A sentence names at most this many refused members. */
const MOST_REFUSED_NAMED = 5;

/** Name, smallest duration it is used for, and length. Milliseconds. */
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

/** `1 session`, `3 sessions`, `3 branches` */
export function countText(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** Undefined: there is nothing to say. */
type Clause = string | undefined;

export function describeStanding(standing: Standing, now: Instant): string {
  const { why } = standing;
  const clauses = [reason(standing, now), evidence(why, now), rule(standing, now)];
  return clauses.filter((clause) => clause !== undefined).join('; ');
}

/** `members: pg-1 (no answer for 4 s); not used: pg-2 (PostgreSQL port not allowed by cluster.allow.ports)` */
export function describeMembers(decision: PoolDecision | undefined, now: Instant): string {
  const parts = [...(decision?.standings ?? [])].map(
    ([member, standing]) => `${member} (${describeStanding(standing, now)})`,
  );
  const known = parts.length === 0 ? 'members: none' : `members: ${parts.join(', ')}`;
  const refused = describeRefused(decision?.refused ?? []);
  return refused === undefined ? known : `${known}; ${refused}`;
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

/**
 * Why a member is excluded: a key of `on_leave`, `not_primary` for a member that has never been primary, `stale` for
 * one that lags in time, or what the check requires: `not_synchronous`.
 */
export function exclusionCause(standing: Standing): string | undefined {
  if (standing.kind !== 'leave') return undefined;
  if (standing.neverPrimary === true) return 'not_primary';
  const { code, evidence } = standing.why;
  if (code === 'stale') return code;
  const isPlainNo = standing.cause === 'check_failed' && code === 'not_holding_the_check';
  return isPlainNo && evidence !== undefined ? failureOf(evidence.check) : standing.cause;
}

/** `open on pg-2, pg-3, fallback to pool write` */
export function describeRoute(route: Route): string {
  switch (route.kind) {
    case 'open': {
      const lent = route.fallback === undefined ? '' : `, fallback to pool ${route.fallback.pool}`;
      const late = route.lagging === undefined ? '' : ', over the lag limit like all members';
      return `open on ${route.targets.map((target) => target.member).join(', ')}${lent}${late}`;
    }
    case 'hold':
      return `${HOLD_WORDS[route.cause]}, clients wait`;
    case 'closed':
      return 'no eligible member, clients are refused';
  }
}

/** With `balance: latency`: `replies in 400 ms, logins in 6.1 ms; new sessions at 1.3 % of its weight` */
export function describeLatency({ requestMs, loginMs, at, share }: MemberLatency, now: Instant): string {
  const times = [
    ...(requestMs === undefined ? [] : [`replies in ${shortTimeText(requestMs)}`]),
    ...(loginMs === undefined ? [] : [`logins in ${shortTimeText(loginMs)}`]),
  ];
  // From then on the times and the share no longer fit each other.
  const age = at !== undefined && now - at >= AGES_MS ? [`last measured ${since(at, now)} ago`] : [];
  const measured = times.length === 0 ? 'not measured yet' : [...times, ...age].join(', ');
  const weight = share > ALMOST_ALL ? 'its full weight' : `${percentText(share)} of its weight`;
  return `${measured}; new sessions at ${weight}`;
}

/** `0.25 ms`, `6.1 ms`, `400 ms`, `2.5 s` */
function shortTimeText(ms: number): string {
  return ms < 10 ? `${Number(ms.toPrecision(2))} ms` : durationText(ms);
}

/** Less than half a percent is missing. */
const ALMOST_ALL = 0.995;

/** `0.1 %`, `1.3 %`, `25 %` */
function percentText(part: number): string {
  return `${Number((100 * part).toPrecision(2))} %`;
}

/** `claims to be primary with timeline 5, but timeline 6 was seen before` */
export function describeRefusal({ shown, expected }: RefusedPrimary): string {
  return `claims to be primary with ${shown}, but ${expected} was seen before`;
}

/** Each entry names one thing that ends the refusal. */
export function refusalEnds({ kind, missing, agreedSince }: RefusedPrimary, now: Instant): readonly string[] {
  const agreement =
    agreedSince === undefined
      ? `agreement of all members for ${durationText(AGREEMENT_MS)} (missing: ${missing.join('; ')})`
      : `agreement of all members for ${durationText(Math.max(0, agreedSince + AGREEMENT_MS - now))} more`;
  return [agreement, `pointsman accept ${kind}`];
}

function since(at: Instant, now: Instant): string {
  return durationText(Math.max(0, now - at));
}

/** For these codes the answer itself says everything. */
const SAID_BY_THE_ANSWER: readonly WhyCode[] = ['positive', 'rising', 'not_holding_the_check'];

/** For these codes the detail is a whole clause: `is a replica`. */
const DETAIL_IS_CLAUSE: readonly WhyCode[] = ['wrong_role'];

const IDLE_FALLBACK = 'fallback, used only while the pool has no other eligible member';

function reason({ kind, why }: Standing, now: Instant): Clause {
  const { code, since: at, detail, evidence: known } = why;
  if (known?.answer !== undefined && SAID_BY_THE_ANSWER.includes(code)) return undefined;
  if (detail !== undefined && DETAIL_IS_CLAUSE.includes(code)) return detail;
  const words = kind !== 'open' && code === 'fallback' ? IDLE_FALLBACK : WHY_WORDS[code];
  const age = at === undefined ? '' : ageText(code, at, now);
  return `${words.replace('CHECK', known?.check ?? 'the check')}${age}${detail === undefined ? '' : `: ${detail}`}`;
}

/** A switchover may lie in the future. */
function ageText(code: WhyCode, at: Instant, now: Instant): string {
  if (code === 'drained') return ` ${since(at, now)} ago`;
  if (code !== 'switchover_due') return ` for ${since(at, now)}`;
  return at > now ? ` in ${durationText(at - now)}` : ` ${since(at, now)} ago`;
}

function answerText({ to, status, at }: JudgedAnswer, now: Instant): string {
  return `answered ${status} to ${to} ${since(at, now)} ago`;
}

/** The second clause: the evidence, with its age. */
function evidence({ code, evidence: known }: Why, now: Instant): Clause {
  if (known === undefined) return undefined;
  const { vouch, mismatchAt, yesAt, answer, check } = known;
  if (code === 'vouched') return vouch === undefined ? undefined : `confirmed ${since(vouch.at, now)} ago`;
  if (code === 'other_cluster') return mismatchAt === undefined ? undefined : `reported ${since(mismatchAt, now)} ago`;
  if (code === 'no_answer' || code === 'vanished') {
    return yesAt === undefined ? `never passed ${check}` : `last passed ${check} ${since(yesAt, now)} ago`;
  }
  return answer === undefined ? undefined : answerText(answer, now);
}

/** The third clause: the rule that applies, with its limits. */
const RULES: Readonly<Partial<Record<WhyCode, (known: Evidence, now: Instant, kind: Standing['kind']) => Clause>>> = {
  positive: whyOpen,
  invalid_weight: whyOpen,
  vouched: ({ freshMs }) => `valid for ${durationText(freshMs)}`,
  no_answer: (known, _, kind) =>
    kind === 'leave' ? `sessions close after ${durationText(known.graceMs)}` : clocks(known),
  vanished: () => 'sessions close because another member answers',
  drained: () => 'no new sessions until it is resumed',
  switchover_due: () => 'new clients wait for the next primary',
  switchover_running: () => 'new clients wait for the next primary',
  restart_running: () => 'no new sessions until it has restarted',
  refused: () => 'considered dead until it answers again',
  lagging: limitsText,
  stale: limitsText,
  least_lagging: limitsText,
  not_running: (_known, _now, kind) => (kind === 'keep' ? 'PostgreSQL itself closes existing sessions' : undefined),
  two_primaries: ({ graceMs }) =>
    `no new sessions until one yields, existing ones close after ${durationText(graceMs)}`,
  in_recovery: () => 'one client tries it every 2 s, the others wait',
  rising: ({ streak }) => streak && `${streak.count} of ${streak.needed} passes in a row before it is eligible`,
};

function rule({ kind, why: { code, evidence: known } }: Standing, now: Instant): Clause {
  return known && RULES[code]?.(known, now, kind);
}

function clocks({ freshMs, graceMs, isExclusive }: Evidence): string {
  const stop = isExclusive ? 'no new sessions after' : 'new sessions prefer other members, and stop after';
  return `${stop} ${durationText(freshMs)}; existing ones close after ${durationText(graceMs)}`;
}

function whyOpen(known: Evidence, now: Instant): Clause {
  const { silentSince, isYes, streak, isExclusive, timeline } = known;
  if (silentSince !== undefined) return `no answer for ${since(silentSince, now)}: ${clocks(known)}`;
  if (isYes === false && streak !== undefined) {
    return `${streak.count} of ${streak.needed} failures in a row before it is excluded`;
  }
  if (isExclusive) return timeline === undefined ? 'no rival' : `no rival on timeline ${timeline}`;
  return limitsText(known);
}

/** `estimated lag 680 B (limit 16 MB), staleness 5.1 s (limit 5 s)` */
function limitsText({ lag, staleness }: Evidence): Clause {
  const parts = [
    ...(lag === undefined ? [] : [`estimated lag ${sizeText(lag.bytes)} (limit ${sizeText(lag.boundBytes)})`]),
    ...(staleness === undefined
      ? []
      : [`staleness ${durationText(staleness.ms)} (limit ${durationText(staleness.limitMs)})`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
