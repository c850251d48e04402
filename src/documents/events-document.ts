// The answers of GET /events.
import { z } from 'zod';
import { anything, list, time } from './document-parts.ts';

/** One line of the log, level info and above. */
export const recentEvent = z.strictObject({
  id: z
    .string()
    .describe(
      'RUN-NUMBER, the event_id of the log. Numbers increase, with gaps; RUN changes when Pointsman starts again.',
    ),
  time,
  event: z.string().describe('Its name in the log.'),
  level: z.enum(['info', 'warn', 'error']),
  message: z.string(),
  fields: anything.describe('The other fields of the log line.'),
});

/** Events that a reader misses. */
export const gap = z.strictObject({ why: z.enum(['buffer_overrun', 'other_run']), message: z.string() });

export const eventList = z.strictObject({
  events: list(recentEvent),
  last_id: z.string().describe('Continue with ?after= this.'),
  gap: gap.nullable().describe('Events after the given id that are no longer kept.'),
});

export type RecentEvent = z.infer<typeof recentEvent>;
export type Gap = z.infer<typeof gap>;
export type EventList = z.infer<typeof eventList>;
