// The words and signs of a member's place in a pool, of a route, and of ages. A colour only repeats them. Pure.
import { durationText } from '../../core/describe.ts';
import type { Paint, Style } from '../terminal/colour.ts';
import type { Status, StatusMember, StatusPool } from './document.ts';

export interface Place {
  /** One column wide. */
  readonly sign: string;
  readonly word: string;
  readonly style: Style;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['operator', 'drained'],
  ['dead', 'down'],
  ['fallback_over', 'fallback'],
]);
/** No fault of the member: the pool is for other ones. */
const QUIET: ReadonlySet<string> = new Set([
  'not_primary',
  'fallback_over',
  'not_synchronous',
  'not_asynchronous',
  'not_in_quorum',
  'not_leader',
  'not_standby_leader',
]);

export function placeIn({ name, route }: StatusPool, member: StatusMember): Place | undefined {
  const own = member.pools[name];
  if (own === undefined) return undefined;
  const isTarget = route.kind === 'open' && route.members.some((target) => target.name === member.name);
  if (isTarget && route.fallback !== null) return { sign: '●', word: 'fallback', style: 'warn' };
  if (isTarget) return { sign: '●', word: 'routed', style: route.lagging === undefined ? 'good' : 'warn' };
  if (own.standing === 'open') return { sign: '○', word: 'eligible', style: 'good' };
  if (own.standing === 'keep') return { sign: '◐', word: 'no new', style: 'warn' };
  const cause = own.cause ?? 'excluded';
  const word = WORDS.get(cause) ?? cause.replaceAll('_', ' ');
  if (QUIET.has(cause)) return { sign: cause === 'fallback_over' ? '○' : '–', word, style: 'faint' };
  return { sign: '✗', word, style: cause === 'operator' ? 'warn' : 'bad' };
}

export const LEGEND = '● routed  ○ fallback or eligible  ◐ no new sessions  – not primary  ✗ excluded';

export function routeText({ route, why }: StatusPool, paint: Paint): string {
  if (route.kind === 'closed') return paint('bad', `✗ ${why}`);
  if (route.kind === 'hold') return paint('warn', `◐ ${why}`);
  return paint(route.fallback === null && route.lagging === undefined ? 'good' : 'warn', `● ${why}`);
}

/** `0.3 s`, `12 s`, `3.5 min` */
export function ageText(seconds: number): string {
  return seconds < 10 ? `${seconds.toFixed(1)} s` : durationText(Math.round(seconds) * 1000);
}

/** `3 clients waiting, longest 2.1 s, refused after 30 s` */
export function waitingText(pool: StatusPool, { limits }: Pick<Status, 'limits'>): string {
  const clients = waitingIn(pool);
  const longest = pool.sessions?.longest_wait_seconds;
  return [
    `${clients === 1 ? '1 client' : `${clients} clients`} waiting`,
    ...(longest === undefined ? [] : [`longest ${ageText(longest)}`]),
    ...(limits === undefined ? [] : [`refused after ${durationText(limits.client_wait_seconds * 1000)}`]),
  ].join(', ');
}

/** Clients of this pool that wait for a member. */
export function waitingIn({ sessions }: Pick<StatusPool, 'sessions'>): number {
  return sessions?.by_state['holding'] ?? 0;
}

/** `42 sessions parked for 30 s at most, 3 log in at their next server`. Undefined: no session of this pool moves. */
export function movingText(
  { sessions }: Pick<StatusPool, 'sessions'>,
  { limits }: Pick<Status, 'limits'>,
): string | undefined {
  const { parked = 0, moving = 0 } = sessions?.by_state ?? {};
  const seconds = limits?.park_seconds ?? undefined;
  const limit = seconds === undefined ? '' : ` for ${durationText(seconds * 1000)} at most`;
  const parts = [
    ...(parked === 0 ? [] : [`${parked === 1 ? '1 session' : `${parked} sessions`} parked${limit}`]),
    ...(moving === 0 ? [] : [loggingInText(moving, parked === 0)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

function loggingInText(moving: number, isAlone: boolean): string {
  if (moving === 1) return isAlone ? '1 session logs in at its next server' : '1 logs in at its next server';
  return isAlone ? `${moving} sessions log in at their next server` : `${moving} log in at their next server`;
}

/** Sessions that connect to a member or have one. */
export function sessionsIn({ sessions }: Pick<StatusPool, 'sessions'>, member?: string): number {
  const counts = Object.entries(sessions?.by_member ?? {});
  return counts.reduce((sum, [name, count]) => (member === undefined || name === member ? sum + count : sum), 0);
}
