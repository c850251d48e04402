// The answer of GET /incidents. That of GET /incidents/ID is the document of incidents/schema.ts.
import { z } from 'zod';
import { INCIDENT_KINDS, type IncidentDocument } from '../incidents/schema.ts';
import { PLANS } from '../reports/events.ts';
import { list, seconds, time } from './document-parts.ts';

const entry = z.strictObject({
  id: z.string().describe('The day of its beginning (UTC), and a number: 2026-11-22-1.'),
  state: z.enum(['open', 'settled']).describe('A settled incident opens again when trouble returns within a minute.'),
  opened_at: time,
  settled_at: time.nullable().describe('Null while it is open.'),
  kinds: list(z.enum(INCIDENT_KINDS)),
  planned: z.enum(PLANS),
  no_write_route_seconds: seconds
    .nullable()
    .describe('Without a route for pools of the primary, all interruptions together. Null: none, or not over yet.'),
  summary: z.string().describe('One sentence.'),
});

export const incidentList = z.strictObject({
  current_id: z.string().nullable().describe('The incident that is open, or that may open again.'),
  incidents: list(entry).describe('The newest first.'),
});

export type IncidentListDocument = z.infer<typeof incidentList>;
export type { IncidentDocument };
