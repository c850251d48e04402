// TIME of a scheduled operation: ISO 8601 with an offset, or `now+10m`. Shown in local time and in UTC.
import { durationText } from '../../core/describe.ts';

export type ParsedTime =
  | { readonly kind: 'time'; readonly at: Date }
  /** `why` begins with the text as given. */
  | { readonly kind: 'invalid'; readonly why: string };

const FORMS = 'write 2026-01-31T18:00:00+01:00, or now+10m';
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?$/i;
const FROM_NOW = /^now((?:\s*\+\s*\d+\s*(?:d|h|min|m|s))+)$/i;
const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, min: 60_000, m: 60_000, s: 1000 };
const DAY_MS = 86_400_000;
/** Beyond this a time is taken for a mistake in the date. */
const MOST_DAYS = 366;
/** Beyond this the plan warns: such a schedule outlives restarts of the members and shifts of operators. */
const FAR_DAYS = 7;

export function parseTime(text: string, now: Date): ParsedTime {
  const given = text.trim();
  const parsed = FROM_NOW.test(given) ? fromNow(given, now) : timestamp(given);
  if (parsed.kind === 'invalid') return parsed;
  const aheadMs = parsed.at.getTime() - now.getTime();
  if (aheadMs <= 0) {
    const past = aheadMs === 0 ? 'is now' : `is in the past, ${durationText(-aheadMs)} ago`;
    return invalid(`${given} ${past}: give a later time, or leave the option out to act now`);
  }
  if (aheadMs > MOST_DAYS * DAY_MS) return invalid(`${given} is ${durationText(aheadMs)} ahead: check the date`);
  return parsed;
}

/** The form that every version of the management API reads. */
export function sentTime(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, '+00:00');
}

/** `2026-01-31 18:00:00 +01:00 (17:00:00 UTC), in 10 min` */
export function timeText(at: Date, now: Date): string {
  const aheadMs = at.getTime() - now.getTime();
  const when = aheadMs < 0 ? `${durationText(-aheadMs)} ago` : `in ${durationText(aheadMs)}`;
  return `${bothClocks(at)}, ${when}`;
}

/** `2026-01-31 18:00:00 +01:00 (17:00:00 UTC)`; the date of UTC too where it differs. */
function bothClocks(at: Date): string {
  const local = localClock(at);
  const utc = at.toISOString().slice(0, 19).replace('T', ' ');
  if (at.getTimezoneOffset() === 0) return `${utc} UTC`;
  return `${local} ${offsetText(at)} (${local.slice(0, 10) === utc.slice(0, 10) ? utc.slice(11) : utc} UTC)`;
}

/** Undefined: the time is near. */
export function farWarning(at: Date, now: Date): string | undefined {
  const aheadMs = at.getTime() - now.getTime();
  return aheadMs > FAR_DAYS * DAY_MS ? `the time is ${durationText(aheadMs)} ahead: check the date` : undefined;
}

function fromNow(given: string, now: Date): ParsedTime {
  const parts = [...given.matchAll(/(\d+)\s*(d|h|min|m|s)/gi)];
  const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0), 0);
  const at = new Date(now.getTime() + ms);
  return Number.isNaN(at.getTime()) ? invalid(`${given} is too far ahead: check the number`) : { kind: 'time', at };
}

function timestamp(given: string): ParsedTime {
  const match = TIMESTAMP.exec(given);
  if (match === null) return invalid(`${given} is not a time: ${FORMS}`);
  const [, day = '', minute = '', second = ':00', fraction = '', offset] = match;
  const clock = `${day}T${minute}${second}`;
  if (!isOnTheClock(clock)) return invalid(`${given} is not a time: no calendar has it`);
  if (offset === undefined) {
    const local = `${clock}${offsetText(new Date(clock))}`;
    return invalid(`${given} has no offset: write ${local} for local time, or ${clock}Z for UTC`);
  }
  const at = new Date(`${clock}${fraction.slice(0, 4)}${fullOffset(offset)}`);
  return Number.isNaN(at.getTime()) ? invalid(`${given} is not a time: ${FORMS}`) : { kind: 'time', at };
}

/** Date would turn February 30 into a day in March. */
function isOnTheClock(clock: string): boolean {
  const date = new Date(`${clock}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(clock);
}

/** `Z`, `+01`, `+0100`, `+01:00` */
function fullOffset(offset: string): string {
  if (offset.toUpperCase() === 'Z') return 'Z';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** `2026-01-31 18:00:00 +01:00` */
export function localTime(at: Date): string {
  return `${localClock(at)} ${offsetText(at)}`;
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

function invalid(why: string): ParsedTime {
  return { kind: 'invalid', why };
}
