// Points in time from `schedule` and `scheduled_at`: ISO 8601 with an offset, in the future. Pure.

export interface Schedule {
  /** As given, but with the T and the offset's colon that Date.parse needs. */
  readonly text: string;
  readonly date: Date;
}

export type ParsedSchedule =
  | { readonly kind: 'schedule'; readonly schedule: Schedule }
  /**
   * `invalid`: the offset is missing. `bad_schedule`: not a timestamp, or in the past. Real Patroni tells them apart.
   */
  | { readonly kind: 'invalid' | 'bad_schedule'; readonly text: string };

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?$/i;

export function parseSchedule(given: string, action: 'switchover' | 'restart', now: Date): ParsedSchedule {
  const match = TIMESTAMP.exec(given.trim());
  if (match === null) return notTimestamp(given);
  const [, day = '', minute = '', second = ':00', fraction = '', offset] = match;
  if (offset === undefined) {
    return { kind: 'invalid', text: `Timezone information is mandatory for the scheduled ${action}` };
  }
  const wallClock = `${day}T${minute}${second}`;
  const text = `${wallClock}${fraction}${fullOffset(offset)}`;
  const date = new Date(text);
  if (!isWallClock(wallClock) || Number.isNaN(date.getTime())) return notTimestamp(given);
  if (date <= now) return { kind: 'bad_schedule', text: `Cannot schedule ${action} in the past` };
  return { kind: 'schedule', schedule: { text, date } };
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

function notTimestamp(given: string): ParsedSchedule {
  const shown = JSON.stringify(given.slice(0, 100));
  return {
    kind: 'bad_schedule',
    text: `Unable to parse scheduled timestamp ${shown}. It should be in an unambiguous format, e.g. ISO 8601`,
  };
}
