// The words and signs of a member, of its place in a pool, of a route, and of ages. A colour only repeats them. Pure.
import { countText, durationText } from '../../core/describe.ts';
import { sizeText } from '../../model/check.ts';
import { shown } from '../../model/printable.ts';
import type { Paint, Style } from '../terminal/colour.ts';
import type { Status, StatusMember, StatusPool } from './read-status.ts';

export interface CellPlace {
  /** One column wide. */
  readonly sign: string;
  readonly word: string;
  readonly style: Style;
}

const IDLE = { sign: '–', style: 'faint' } as const;
const SIGNS = new Map<string, Omit<CellPlace, 'word'>>([
  ['routed', { sign: '●', style: 'good' }],
  ['eligible', { sign: '○', style: 'good' }],
  ['idle', IDLE],
  ['warning', { sign: '◐', style: 'warn' }],
  ['bad', { sign: '✗', style: 'bad' }],
]);

/** Undefined: the pool does not know the member. */
export function placeIn({ name, route }: StatusPool, member: StatusMember): CellPlace | undefined {
  const standing = member.pools[name];
  if (standing === undefined) return undefined;
  // An older Pointsman has no place.
  const place = standing.place ?? { sign: 'idle', word: '?' };
  const isDegraded = route.kind === 'open' && (route.fallback !== null || route.lagging !== undefined);
  const { sign, style } = SIGNS.get(place.sign) ?? IDLE;
  return { sign, word: shown(place.word), style: place.sign === 'routed' && isDegraded ? 'warn' : style };
}

/** `was primary`: of a member that does not answer any more. An older Pointsman has the bare role alone. */
export function roleOf({ role_text: text, role }: StatusMember): string | null {
  return text ?? role;
}

/** `680 B`, and of a replica whose data is a second old or more `680 B, 5.1 s`. */
export function lagText({ lag_bytes: lag, staleness_seconds: staleness }: StatusMember): string {
  if (lag === null) return '–';
  // An older Pointsman does not report it.
  return (staleness ?? 0) < 1 ? sizeText(lag) : `${sizeText(lag)}, ${ageText(staleness ?? 0)}`;
}

export const LEGEND = '● routed  ○ eligible  – in no use  ◐ limited  ✗ a fault';

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
  const longest = pool.sessions?.longest_wait_seconds;
  return [
    `${countText(waitingIn(pool), 'client')} waiting`,
    ...(longest === undefined ? [] : [`longest ${ageText(longest)}`]),
    ...(limits === undefined ? [] : [`refused after ${limitText(limits)}`]),
  ].join(', ');
}

/** The outage of a pool has a limit of its own, which ends the wait of a client that came late in it. */
function limitText({ client_wait_seconds: own, outage_seconds: outage }: NonNullable<Status['limits']>): string {
  const text = durationText(own * 1000);
  return outage === undefined ? text : `${text}, or when the outage has lasted ${durationText(outage * 1000)}`;
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
    ...(parked === 0 ? [] : [`${countText(parked, 'session')} parked${limit}`]),
    ...(moving === 0 ? [] : [loggingInText(moving, parked === 0)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

function loggingInText(moving: number, isAlone: boolean): string {
  if (moving === 1) return isAlone ? '1 session logs in at its next server' : '1 logs in at its next server';
  return isAlone ? `${moving} sessions log in at their next server` : `${moving} log in at their next server`;
}

/** With `balance: latency`: how fast the member answers, and its share. An older Pointsman has no sentence. */
export function latencyText({ sessions }: Pick<StatusPool, 'sessions'>, member: string): string | undefined {
  return sessions?.latency?.[member]?.summary;
}

/** Sessions that connect to a member or have one. */
export function sessionsIn({ sessions }: Pick<StatusPool, 'sessions'>, member?: string): number {
  const counts = Object.entries(sessions?.by_member ?? {});
  return counts.reduce((sum, [name, count]) => (member === undefined || name === member ? sum + count : sum), 0);
}
