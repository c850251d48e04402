// The answer of GET /incidents. That of GET /incidents/ID is the document of incidents/schema.ts.
import { z } from 'zod';
import { incidentEntry, type IncidentDocument } from '../incidents/schema.ts';
import { list } from './document-parts.ts';

export const incidentList = z.strictObject({
  current_id: z.string().nullable().describe('The incident that is open, or that may open again.'),
  incidents: list(incidentEntry).describe('The newest first.'),
});

export type IncidentListDocument = z.infer<typeof incidentList>;
export type { IncidentDocument };
