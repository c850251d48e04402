// The events that a recording keeps.
import { expect, test } from 'vitest';
import { Recording } from '../../../src/incidents/recording.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';

const LIMITS = { decisions: 10, probes: 10, sessions: 10, traffic: 10, singleSessions: 10, keepsFirst: false };

test('an incident is about the cluster: nothing about branches or their sessions is recorded', () => {
  const recording = new Recording(LIMITS);
  const all = Object.values(EVENT_SAMPLES).flatMap(({ samples }): readonly ReportedEvent[] => samples);
  const ofBranches = all.filter((event) => 'branch' in event || event.kind.startsWith('branch_'));
  expect(ofBranches.length).toBeGreaterThan(9);
  expect(ofBranches.filter((event, number) => recording.take(event, number, 0))).toEqual([]);
  expect(EVENT_SAMPLES.session_opened.samples.map((event, number) => recording.take(event, number, 0))).toEqual([
    true,
    false,
  ]);
});
