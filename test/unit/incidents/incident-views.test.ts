// The incident of a time.
import { expect, test } from 'vitest';
import { incidentAt } from '../../../src/incidents/incident-views.ts';
import { anIncidentEntry } from '../../support/values/incidents.ts';

const minute = (number: number): number => Date.parse('2026-11-22T14:00:00Z') + number * 60_000;
const entry = (id: string, opened: number, settled: number | null) =>
  anIncidentEntry({
    id,
    opened_at: new Date(minute(opened)).toISOString(),
    settled_at: settled === null ? null : new Date(minute(settled)).toISOString(),
  });
const ENTRIES = [entry('3', 30, null), entry('2', 20, 25), entry('1', 10, 15)];

test.each<[from: number, to: number | undefined, id: string | undefined]>([
  [9, 9.5, undefined],
  [9, 10, '1'],
  [15, 16, '1'],
  [16, 17, undefined],
  [12, 22, '2'],
  [29, undefined, '3'],
  [40, 41, '3'],
])('from minute %d to %s: incident %s', (from, to, id) => {
  expect(incidentAt(ENTRIES, minute(from), to === undefined ? undefined : minute(to))).toBe(id);
});
