// The kinds of values in the document of an incident.
import { z } from 'zod';

export const time = z.iso.datetime().describe('ISO 8601, UTC, with milliseconds.');
export const seconds = z.number().min(0);
export const count = z.int().min(0);
export const member = z.string();
export const pool = z.string();

export function list<Item extends z.ZodType>(item: Item): z.ZodReadonly<z.ZodArray<Item>> {
  return z.array(item).readonly();
}

export const eventId = z.string().describe('RUN-NUMBER, as in the log (event_id) and in GET /events.');
export const eventIds = list(eventId).describe('The events that the finding rests on. Each one is in `events`.');
export const text = z.string().describe('One or two sentences.');
