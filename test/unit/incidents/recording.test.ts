// The events that a recording keeps.
import { expect, test } from 'vitest';
import { Recording } from '../../../src/incidents/recording.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { incidentText } from '../../../src/incidents/incident-text.ts';
import { incidentLab, routeChange } from '../../support/fakes/incident-lab.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';

const LIMITS = { decisions: 10, probes: 10, sessions: 10, traffic: 10, singleSessions: 10, keepsFirst: false };

const CLOSED = {
  kind: 'session_closed',
  pool: 'write',
  session: 7,
  member: 'pg-1',
  client: '10.0.0.5:1',
  detail: undefined,
  durationMs: 9_000,
  toBackendBytes: 1,
  toClientBytes: 1,
} as const;

test('an incident is about the cluster: nothing about branches or their sessions is recorded', () => {
  const recording = new Recording(LIMITS);
  const all = Object.values(EVENT_SAMPLES).flatMap(({ samples }): readonly ReportedEvent[] => samples);
  const ofBranches = all.filter((event) => 'branch' in event || event.kind.startsWith('branch_'));
  expect(ofBranches.length).toBeGreaterThan(9);
  expect(ofBranches.filter((event, number) => recording.take(event, number, 0))).toEqual([]);
  expect(EVENT_SAMPLES.session_opened.samples.map((event, number) => recording.take(event, number, 0))).toEqual([
    true,
    false,
    true,
  ]);
});

test('a session that an operator ended is none that the outage cut', async () => {
  const { clock, recorder, take } = incidentLab();
  take(routeChange('write', 'pg-1'));
  await clock.advance(1_000);
  take({ ...CLOSED, reason: 'killed_by_operator' });
  take(routeChange('write'));
  take({ ...CLOSED, session: 8, reason: 'evicted_dead' });
  const document = await recorder.get('2026-11-22-1', { isUnredacted: true });
  const cut = document?.findings.filter(({ finding }) => finding === 'sessions_cut');
  expect(cut).toMatchObject([{ total: 1, text: '1 session was cut: 1 of pool write on pg-1: evicted_dead.' }]);
});

test('a session whose client does not read its end is cut when its server ended it', async () => {
  const { clock, recorder, take } = incidentLab();
  const cut = { ...CLOSED, reason: 'backend_closed' } as const;
  take(routeChange('write', 'pg-1'));
  await clock.advance(1_000);
  take(cut);
  take(routeChange('write'));
  await clock.advance(5_000);
  take({ ...cut, application: 'slow', lingeredMs: 5_001 });
  const document = await recorder.get('2026-11-22-1', { isUnredacted: true });
  const times = document?.events.filter(({ event }) => event === 'session_closed').map(({ time }) => time);
  expect(times).toEqual(['2026-11-22T12:00:00.999Z', '2026-11-22T12:00:01.000Z']);
  expect(document && incidentText(document)).toContain('application slow: backend_closed, at 12:00:00.999');
  // Equal events share an entry, which begins with the earliest.
  take({ ...cut, reason: 'backend_refused' });
  take({ ...cut, reason: 'backend_refused', lingeredMs: 500 });
  const shared = (await recorder.get('2026-11-22-1', { isUnredacted: true }))?.events.find(
    ({ repeated }) => repeated !== undefined,
  );
  expect(shared).toMatchObject({ time: '2026-11-22T12:00:05.500Z', repeated: { count: 2 } });
});
