// Incidents for tests that only show them.
import type { IncidentDocument, IncidentEntry } from '../../../src/incidents/schema.ts';

export function anIncidentEntry(own: Partial<IncidentEntry> = {}): IncidentEntry {
  return {
    id: '2026-11-22-1',
    state: 'settled',
    opened_at: '2026-11-22T14:00:00.000Z',
    settled_at: '2026-11-22T14:01:00.000Z',
    kinds: ['primary_lost', 'primary_changed'],
    planned: 'unplanned',
    no_write_route_seconds: 3.9,
    summary: 'pg-1 was lost; pg-2 is the primary; no write route for 3.9 s',
    ...own,
  };
}

export function anIncident(own: Partial<IncidentDocument> = {}): IncidentDocument {
  return {
    schema_version: 1,
    id: '2026-11-22-1',
    state: 'settled',
    opened_at: '2026-11-22T14:00:00.000Z',
    settled_at: '2026-11-22T14:01:00.000Z',
    reopened_at: [],
    continues: null,
    continued_by: null,
    interrupted: false,
    cluster: { scope: 'lab', system_identifier: '7' },
    kinds: ['primary_lost', 'primary_changed'],
    planned: 'unplanned',
    summary: 'pg-1 was lost; pg-2 is the primary; no write route for 3.9 s',
    recorder: { version: '0', run: 'r1', started_at: '2026-11-22T13:00:00.000Z', workers: 1 },
    redaction: { redacted: true, note: 'client-1 stands for an address' },
    snapshots: [],
    events: [],
    findings: [],
    missing: [],
    ...own,
  };
}
