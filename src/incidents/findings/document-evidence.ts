// Reading the events of a document: their fields are those of the log. Pure, as everything here: a reader of the
// document can do the same.
import type { IncidentEvent, IncidentSnapshot } from '../schema.ts';

export interface Evidence {
  /** In the order of their times. */
  readonly events: readonly IncidentEvent[];
  readonly snapshots: readonly IncidentSnapshot[];
}

export type PoolPicture = IncidentSnapshot['pools'][number];

/** A field that is text, else undefined. */
export function text({ fields }: IncidentEvent, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

export function names({ fields }: IncidentEvent, name: string): readonly string[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

export function amount({ fields }: IncidentEvent, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' ? value : undefined;
}

export function countOf({ repeated }: IncidentEvent): number {
  return repeated?.count ?? 1;
}

export function lastTime({ time, repeated }: IncidentEvent): string {
  return repeated?.last_time ?? time;
}

/** Its server did not let the client in, so there was no session. */
export function isRefusedLogin(event: IncidentEvent): boolean {
  return event.event === 'session_closed' && text(event, 'reason') === 'backend_refused';
}

/** A session that did not end by its client. */
export function isCut(event: IncidentEvent): boolean {
  return event.event === 'session_closed' && !isRefusedLogin(event) && text(event, 'member') !== undefined;
}

export function ms(time: string): number {
  return Date.parse(time);
}

/** Seconds, to the millisecond. */
export function secondsBetween(from: string, to: string): number {
  return Math.max(0, ms(to) - ms(from)) / 1000;
}

/** Without repetitions, in the order of their first occurrence. */
export function idsOf(events: readonly (IncidentEvent | undefined)[]): readonly string[] {
  return [...new Set(events.flatMap((event) => (event === undefined ? [] : [event.id])))];
}

/** `17.32 s`, `180 ms` */
export function secondsText(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}

/** `12:00:05.120`, the time of day in UTC. */
export function clockText(time: string): string {
  return time.slice(11, 23);
}

/** The pools as the first snapshot has them. */
export function poolsOf({ snapshots }: Evidence): readonly PoolPicture[] {
  return snapshots[0]?.pools ?? [];
}
