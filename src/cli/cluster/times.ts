// TIME of a scheduled operation: ISO 8601 with an offset, or `now+10m`. Shown in local time and in UTC.
import { fullOffset } from '../../cluster/valid-operation.ts';
import { durationText } from '../../core/describe.ts';
import { wrong } from '../command-end.ts';
import type { ChangeOptions, ClusterCommand } from './cluster-context.ts';

export interface ScheduleOptions extends ChangeOptions {
  readonly at?: string | undefined;
}

const FORMS = 'write 2026-01-31T18:00:00+01:00, or now+10m';
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?$/i;
const FROM_NOW = /^now((?:\s*\+\s*\d+\s*(?:d|h|min|m|s))+)$/i;
const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, min: 60_000, m: 60_000, s: 1000 };
const DAY_MS = 86_400_000;
/** Beyond this a time is taken for a mistake in the date. */
const MOST_DAYS = 366;
/** Beyond this the plan warns: such a schedule outlives restarts of the members and shifts of operators. */
const FAR_DAYS = 7;

/** The option --at. Undefined: now. Ends the command if it is no time to come. */
export function timeOption({ options: { at }, io, now }: ClusterCommand<ScheduleOptions>): Date | undefined {
  const time = at === undefined ? undefined : parseTime(at, now());
  return typeof time === 'string' ? wrong(io, `--at ${time}`) : time;
}

/** A text: what is wrong. It begins with the text as given. */
export function parseTime(text: string, now: Date): Date | string {
  const given = text.trim();
  const parsed = FROM_NOW.test(given) ? fromNow(given, now) : timestamp(given);
  if (typeof parsed === 'string') return parsed;
  const aheadMs = parsed.getTime() - now.getTime();
  if (aheadMs <= 0) {
    const past = aheadMs === 0 ? 'is now' : `is in the past, ${durationText(-aheadMs)} ago`;
    return `${given} ${past}: give a later time, or leave the option out to act now`;
  }
  return aheadMs > MOST_DAYS * DAY_MS ? `${given} is ${durationText(aheadMs)} ahead: check the date` : parsed;
}

/** The form that every version of the management API reads. */
export function sentTime(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, '+00:00');
}

/** `2026-01-31 18:00:00 +01:00 (17:00:00 UTC), in 10 min`; the date of UTC too where it differs. */
export function timeText(at: Date, now: Date): string {
  const aheadMs = at.getTime() - now.getTime();
  const when = aheadMs < 0 ? `${durationText(-aheadMs)} ago` : `in ${durationText(aheadMs)}`;
  const local = localClock(at);
  const utc = at.toISOString().slice(0, 19).replace('T', ' ');
  if (at.getTimezoneOffset() === 0) return `${utc} UTC, ${when}`;
  const there = local.slice(0, 10) === utc.slice(0, 10) ? utc.slice(11) : utc;
  return `${local} ${offsetText(at)} (${there} UTC), ${when}`;
}

/** A warning if it is. */
export function farAhead(at: Date | undefined, now: Date): readonly string[] {
  const aheadMs = (at ?? now).getTime() - now.getTime();
  return aheadMs > FAR_DAYS * DAY_MS ? [`the time is ${durationText(aheadMs)} ahead: check the date`] : [];
}

function fromNow(given: string, now: Date): Date | string {
  const parts = [...given.matchAll(/(\d+)\s*(d|h|min|m|s)/gi)];
  const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0), 0);
  const at = new Date(now.getTime() + ms);
  return Number.isNaN(at.getTime()) ? `${given} is too far ahead: check the number` : at;
}

function timestamp(given: string): Date | string {
  const match = TIMESTAMP.exec(given);
  if (match === null) return `${given} is not a time: ${FORMS}`;
  const [, day = '', minute = '', second = ':00', fraction = '', offset] = match;
  const clock = `${day}T${minute}${second}`;
  if (!isOnTheClock(clock)) return `${given} is not a time: no calendar has it`;
  if (offset === undefined) {
    const local = `${clock}${offsetText(new Date(clock))}`;
    return `${given} has no offset: write ${local} for local time, or ${clock}Z for UTC`;
  }
  const at = new Date(`${clock}${fraction.slice(0, 4)}${fullOffset(offset)}`);
  return Number.isNaN(at.getTime()) ? `${given} is not a time: ${FORMS}` : at;
}

/** Date would turn February 30 into a day in March. */
function isOnTheClock(clock: string): boolean {
  const date = new Date(`${clock}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(clock);
}

/** `2026-01-31 18:00:00 +01:00`; the text itself if it is no time. */
export function localTime(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : `${localClock(at)} ${offsetText(at)}`;
}

function localClock(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

/** `+01:00` */
function offsetText(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${minutes < 0 ? '-' : '+'}${clock}`;
}
