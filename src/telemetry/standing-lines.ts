// The line about a member's new state in a pool: the news first, and each piece of news once. Pure.
import { placeWord } from '../core/place-words.ts';
import type { WhyCode } from '../core/why.ts';
import type { EventOf } from '../reports/events.ts';
import type { LogLine } from './line.ts';

/** Codes that mean trouble; for other codes a person or the cluster manager made a decision. */
const TROUBLE: readonly WhyCode[] = [
  'no_answer',
  'vanished',
  'refused',
  'other_cluster',
  'not_running',
  'two_primaries',
  'superseded',
];

/** Another line has the news: that of the route, `member_drained` or `member_resumed`. */
const TOLD_ELSEWHERE: readonly WhyCode[] = ['fallback', 'drained'];

export function standingLine(event: EventOf<'standing_changed'>): LogLine {
  return { level: levelOf(event), text: () => `pool ${event.pool}: ${sentence(event)}` };
}

function levelOf({ from, to }: EventOf<'standing_changed'>): LogLine['level'] {
  if (from?.kind === 'open' && (TROUBLE.includes(to.why.code) || to.why.code === 'vouched')) return 'warn';
  if (from?.kind !== 'open' && to.kind !== 'open') return 'debug';
  return isToldElsewhere({ from, to }) ? 'debug' : 'info';
}

/** After a failover each replica reaches the new timeline within a second: the line of the route says so. */
function isToldElsewhere({ from, to }: Pick<EventOf<'standing_changed'>, 'from' | 'to'>): boolean {
  if (TOLD_ELSEWHERE.includes(to.why.code)) return true;
  const isBack = from?.kind === 'leave' && to.why.code === 'positive';
  return isBack && (from.why.code === 'other_timeline' || from.why.code === 'drained');
}

function sentence({ member, from, to, text }: EventOf<'standing_changed'>): string {
  const { code, detail } = to.why;
  if (code === 'vouched') return `${member}: API does not answer, still the primary: ${detail ?? text}`;
  if (from?.why.code === 'vouched' && code === 'positive') return `${member}: API answers again: ${text}`;
  if (code === 'switchover_running') return `${member} takes no new sessions: switchover in progress, new clients wait`;
  if (code === 'other_timeline') return `${member} is catching up with the primary's timeline: ${detail ?? text}`;
  return `${member}: ${placeWord(to)}: ${text}`;
}
