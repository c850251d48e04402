// Points in time from `schedule` and `scheduled_at`: ISO 8601 with an offset, in the future. Pure.
import { BadBody } from './request-body.ts';

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?$/i;

/** As given, but with the T and the offset's colon that Date.parse needs; undefined stays undefined. Throws BadBody. */
export function scheduleText(
  given: string | undefined,
  action: 'switchover' | 'restart',
  now: Date,
): string | undefined {
  if (given === undefined) return undefined;
  const match = TIMESTAMP.exec(given.trim());
  if (match === null) throw notTimestamp(given);
  const [, day = '', minute = '', second = ':00', fraction = '', offset] = match;
  if (offset === undefined) throw new BadBody(`Timezone information is mandatory for the scheduled ${action}`);
  const wallClock = `${day}T${minute}${second}`;
  const text = `${wallClock}${fraction}${fullOffset(offset)}`;
  const date = new Date(text);
  if (!isWallClock(wallClock) || Number.isNaN(date.getTime())) throw notTimestamp(given);
  if (date <= now) throw new BadBody(`Cannot schedule ${action} in the past`, 'bad_schedule');
  return text;
}

/** Date.parse turns February 30 into a day in March. */
function isWallClock(text: string): boolean {
  const date = new Date(`${text}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Valid forms: `Z`, `+01`, `+0100`, `+01:00`. */
function fullOffset(offset: string): string {
  if (offset.toUpperCase() === 'Z') return '+00:00';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function notTimestamp(given: string): BadBody {
  const shown = JSON.stringify(given.slice(0, 100));
  const text = `Unable to parse scheduled timestamp ${shown}. It should be in an unambiguous format, e.g. ISO 8601`;
  return new BadBody(text, 'bad_schedule');
}
