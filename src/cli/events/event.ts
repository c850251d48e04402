// One event of GET /events, and the line that shows it.
import { z } from 'zod';
import { onOneLine } from '../../model/printable.ts';
import type { Paint } from '../terminal/colour.ts';
import { tableText } from '../terminal/terminal-table.ts';

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

/** `11-22 14:03:59Z  warn   pool write: …`. Long messages wrap. */
export function eventText({ time, level, message }: EventDocument, paint: Paint, width: number): string {
  const row = [utcTime(time), paint(STYLES[level], level.padEnd(LEVEL_WIDTH)), onOneLine(message)];
  return tableText([{ title: '' }, { title: '' }, { title: '', wraps: true }], [row], width);
}

/** `11-22 14:03:59Z`, as the log and the incidents have it; another text than a time stays as it is. */
export function utcTime(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? onOneLine(time) : `${at.toISOString().slice(5, 19).replace('T', ' ')}Z`;
}
