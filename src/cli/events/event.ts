// One event of GET /events, and the line that shows it.
import { z } from 'zod';
import { onOneLine } from '../../model/printable.ts';
import type { Paint } from '../terminal/colour.ts';
import { tableText } from '../terminal/table.ts';

export const eventDocument = z.looseObject({
  id: z.string(),
  time: z.string(),
  event: z.string(),
  level: z.enum(['info', 'warn', 'error']),
  message: z.string(),
});

export type EventDocument = z.infer<typeof eventDocument>;

const STYLES = { info: 'faint', warn: 'warn', error: 'bad' } as const;
/** Of the longest level. */
const LEVEL_WIDTH = 5;

/** `11-22 14:03:59  warn   pool write: …`, in the local time. Long messages wrap. */
export function eventText({ time, level, message }: EventDocument, paint: Paint, width: number): string {
  const row = [localTime(time), paint(STYLES[level], level.padEnd(LEVEL_WIDTH)), onOneLine(message)];
  return tableText([{ title: '' }, { title: '' }, { title: '', wraps: true }], [row], width);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `11-22 14:03:59`; another text than a time stays as it is. */
export function localTime(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return onOneLine(time);
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
