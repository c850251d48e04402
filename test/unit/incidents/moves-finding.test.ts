// The finding about sessions that moved.
import { expect, test } from 'vitest';
import type { FindingOf, IncidentDocument } from '../../../src/incidents/schema.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import type { MoveEvent } from '../../../src/reports/move-events.ts';
import { incidentLab, routeChange } from '../../support/fakes/incident-lab.ts';

type Finished = Extract<MoveEvent, { kind: 'moves_finished' }>;

/** The route of the pool for writes is lost and comes back, with these events in between. */
async function story(...events: readonly ReportedEvent[]): Promise<IncidentDocument> {
  const { clock, recorder, take } = incidentLab();
  take(routeChange('write', 'pg-1'));
  await clock.advance(1_000);
  take(routeChange('write'));
  for (const event of events) {
    take(event);
    await clock.advance(1_000);
  }
  take(routeChange('write', 'pg-2'));
  await clock.advance(20_000);
  const document = await recorder.get('2026-11-22-1', { isUnredacted: true });
  if (document === undefined) throw new Error('there is no incident');
  return document;
}

function movesOf({ findings }: IncidentDocument): readonly FindingOf<'sessions_moved'>[] {
  return findings.filter((one): one is FindingOf<'sessions_moved'> => one.finding === 'sessions_moved');
}

const batch = (
  moved: number,
  longestGapMs: number,
  stayed: Finished['stayed'],
  failed: Finished['failed'],
): Finished => ({
  kind: 'moves_finished',
  pool: 'write',
  from: 'pg-1',
  to: 'pg-2',
  moved,
  stayed,
  failed,
  ended: 0,
  longestGapMs,
  durationMs: 900,
});

test('sessions that moved: the sum of their batches, and those that stayed by reason', async () => {
  const document = await story(
    batch(40, 420, { listening: 2 }, {}),
    batch(2, 1_250, { busy: 1, listening: 1 }, { move_login: 1 }),
  );
  const [finding, ...others] = movesOf(document);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    pool: 'write',
    moved: 42,
    stayed: [
      { reason: 'listening', count: 3 },
      { reason: 'busy', count: 1 },
    ],
    failed: [{ reason: 'move_login', count: 1 }],
    longest_gap_seconds: 1.25,
    text:
      '42 sessions of pool write moved (longest gap 1.25 s); 4 stayed: 3 listen, 1 is busy; ' +
      '1 failed: 1 move_login.',
  });
  expect(document.summary).toContain('42 sessions moved, ');
  const ids = document.events.filter(({ event }) => event === 'moves_finished').map(({ id }) => id);
  expect(finding?.event_ids).toEqual(ids);
});

test('sessions that could not move, and none that did', async () => {
  const document = await story(batch(0, 0, { temporary_objects: 1 }, {}));
  expect(movesOf(document)).toMatchObject([
    { moved: 0, text: '0 sessions of pool write moved; 1 stayed: 1 has temporary objects.' },
  ]);
  expect(document.summary).not.toContain('moved');
});
