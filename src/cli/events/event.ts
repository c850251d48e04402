// One event of GET /events, and the line that shows it.
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { eventList, gap, recentEvent } from '../../documents/events-document.ts';
import { onOneLine } from '../../model/printable.ts';
import type { Paint, Style } from '../terminal/colour.ts';
import { tableText } from '../terminal/terminal-table.ts';

const EVENT = 'id time event level message';

export const eventReader = looseReader(recentEvent, { needed: [EVENT] });
export const eventListReader = looseReader(eventList, { needed: ['events last_id', EVENT] });
export const gapReader = looseReader(gap, { needed: ['message'] });

export type EventDocument = z.infer<typeof eventReader>;

const STYLES = new Map<string, Style>([
  ['warn', 'warn'],
  ['error', 'bad'],
]);
/** The width of the longest level. */
const LEVEL_WIDTH = 5;

/** `11-22 14:03:59Z  warn   pool write: …`. Long messages wrap. */
export function eventText({ time, level, message }: EventDocument, paint: Paint, width: number): string {
  const row = [utcTime(time), paint(STYLES.get(level) ?? 'faint', level.padEnd(LEVEL_WIDTH)), onOneLine(message)];
  return tableText([{ title: '' }, { title: '' }, { title: '', wraps: true }], [row], width);
}

/** `11-22 14:03:59Z`, as the log and the incidents have it; another text than a time stays as it is. */
export function utcTime(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? onOneLine(time) : `${at.toISOString().slice(5, 19).replace('T', ' ')}Z`;
}
