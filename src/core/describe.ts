// The sentences that say why: the same words in the client's DETAIL, in /status and in the log line of a change. Ages are
// rendered here, from the instants the decision carries.
import type { Instant } from './instant.ts';
import type { PoolDecision, Standing, Why, WhyCode } from './routing-table.ts';

const WORDS: Readonly<Record<WhyCode, string>> = {
  positive: 'answers the check',
  vouched: 'API silent, PostgreSQL accepts and another member names it leader',
  fallback: 'stands in for the pool by fallback',
  'never-answered': 'has not answered yet',
  'no-answer': 'no answer',
  refused: 'API and PostgreSQL refuse the connection',
  'other-cluster': 'answers for another cluster',
  'no-postgres-address': 'PostgreSQL address unknown',
  'not-holding-the-check': 'answers no to the check',
  promoting: 'holds the leader lock, promotion not finished',
  'not-running': 'PostgreSQL is not running',
  'wrong-role': 'role does not fit the check',
  'tagged-out': 'excluded by its tags',
  lagging: 'lags too far behind',
  'other-timeline': "not on the primary's timeline",
  superseded: 'another primary is proven on a higher timeline',
  'two-primaries': 'two members answer as primary on one timeline',
  'exclusive-elsewhere': 'serves an exclusive pool',
  rising: 'answers the check again, not yet often enough',
};

/** `4 s`, `2.5 s`, `80 ms` */
export function durationText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`;
}

export function describeWhy(why: Why, now: Instant): string {
  const detail = why.detail === undefined ? '' : `: ${why.detail}`;
  const age = why.since === undefined ? '' : ` for ${durationText(Math.max(0, now - why.since))}`;
  return `${WORDS[why.code]}${age}${detail}`;
}

export function describeStanding(standing: Standing, now: Instant): string {
  return describeWhy(standing.why, now);
}

/** `members seen: pg-1 (no answer for 4 s), pg-2 (role does not fit the check: role replica)` */
export function describeMembers(decision: PoolDecision | undefined, now: Instant): string {
  const parts = [...(decision?.standings ?? [])].map(
    ([member, standing]) => `${member} (${describeStanding(standing, now)})`,
  );
  return parts.length === 0 ? 'members seen: none' : `members seen: ${parts.join(', ')}`;
}
