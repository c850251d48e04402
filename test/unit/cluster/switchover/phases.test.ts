// When each phase of a switchover began, and how long it took.
import { expect, test } from 'vitest';
import { Phases } from '../../../../src/cluster/switchover/phases.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const START = Date.parse('2026-01-02T03:04:05.000Z');

test('each phase has its beginning by the wall clock and its duration, the last one until the end', async () => {
  const clock = new ManualClock();
  const ended: unknown[] = [];
  const phases = new Phases({ clock, wallClock: () => START, onPhase: (_, last) => void ended.push(last) });
  await clock.advance(1_500);
  phases.enter('hold');
  const heldSince = clock.now();
  await clock.advance(250);
  expect(phases.document()).toEqual({
    started_at: '2026-01-02T03:04:05.000Z',
    duration_ms: 1_750,
    phase: 'hold',
    phases: [
      { phase: 'check', started_at: '2026-01-02T03:04:05.000Z', duration_ms: 1_500 },
      { phase: 'hold', started_at: '2026-01-02T03:04:06.500Z', duration_ms: null },
    ],
  });
  expect(ended).toEqual([undefined, { phase: 'check', started_at: '2026-01-02T03:04:05.000Z', duration_ms: 1_500 }]);
  expect([phases.span(undefined), phases.span(heldSince), phases.span(heldSince, heldSince + 100)]).toEqual([
    null,
    250,
    100,
  ]);
  expect(phases.hasEnded()).toBe(false);
  phases.end();
  await clock.advance(10_000);
  expect(phases.hasEnded()).toBe(true);
  expect(phases.document()).toMatchObject({
    duration_ms: 1_750,
    phase: 'hold',
    phases: [{ duration_ms: 1_500 }, { duration_ms: 250 }],
  });
  expect(phases.span(heldSince)).toBe(250);
});
