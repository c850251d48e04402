// One line for the sessions that move together.
import { expect, test } from 'vitest';
import { EventIds } from '../../../src/reports/event-ids.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import type { MoveEvent } from '../../../src/reports/move-events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { MoveBatches } from '../../../src/telemetry/move-batches.ts';
import { createRecorder } from '../../../src/telemetry/record.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

function start() {
  const clock = new ManualClock();
  const told: ReportedEvent[] = [];
  const batches = new MoveBatches(clock, (event) => void told.push(event));
  const take = (...events: readonly ReportedEvent[]): void => events.forEach((one) => batches.take(one, clock.now()));
  return { clock, told, batches, take };
}

const about = (session: number, pool = 'write') => ({ pool, session, cause: 'switchover' }) as const;
const parked = (session: number, pool?: string): MoveEvent => ({
  kind: 'session_parked',
  ...about(session, pool),
  member: 'pg-1',
});
const moved = (session: number, gapMs: number, pool?: string): MoveEvent => ({
  kind: 'session_moved',
  ...about(session, pool),
  from: 'pg-1',
  to: 'pg-2',
  gapMs,
  loginMs: 5,
  wasWaiting: false,
});
const stayed = (session: number): ReportedEvent => ({
  kind: 'session_stayed',
  ...about(session),
  member: 'pg-1',
  reason: 'listening',
});
function closed(session: number, reason: Extract<ReportedEvent, { kind: 'session_closed' }>['reason']): ReportedEvent {
  const [sample] = EVENT_SAMPLES.session_closed.samples;
  if (sample === undefined) throw new Error('no sample');
  return { ...sample, session, reason };
}

const NOTHING = { moved: 0, stayed: {}, failed: {}, ended: 0, longestGapMs: 0, from: undefined, to: undefined };

test('a batch is over a second after its last session has moved, stayed, failed or ended', async () => {
  const { clock, told, take } = start();
  take(parked(1), parked(2), stayed(3), parked(4), parked(5));
  await clock.advance(5_000);
  expect(told, 'sessions are parked').toEqual([]);
  take(moved(1, 5_000), moved(2, 5_200), closed(4, 'move_login'), closed(5, 'client_closed'), closed(6, 'too_old'));
  await clock.advance(999);
  expect(told).toEqual([]);
  await clock.advance(1);
  expect(told).toEqual([
    {
      kind: 'moves_finished',
      pool: 'write',
      from: 'pg-1',
      to: 'pg-2',
      moved: 2,
      stayed: { listening: 1 },
      failed: { move_login: 1 },
      ended: 1,
      longestGapMs: 5_200,
      durationMs: 5_000,
    },
  ]);
  await clock.advance(5_000);
  expect([told.length, clock.pending()]).toEqual([1, 0]);
});

test('sessions that move one after the other are one batch, and each pool has its own', async () => {
  const { clock, told, take } = start();
  for (let session = 0; session < 5; session += 1) {
    take(parked(session), moved(session, 20), parked(100 + session, 'read'));
    await clock.advance(600);
  }
  await clock.advance(1_000);
  expect(told).toMatchObject([{ pool: 'write', moved: 5, durationMs: 2_400 }]);
  for (let session = 0; session < 5; session += 1) take(moved(100 + session, 9_000, 'read'));
  await clock.advance(1_000);
  expect(told.slice(1)).toMatchObject([{ pool: 'read', moved: 5 }]);
});

test('a failure without a park is a batch, an ordinary end is none', async () => {
  const { clock, told, take } = start();
  take(closed(1, 'client_closed'), closed(2, 'evicted_dead'));
  await clock.advance(2_000);
  expect(told).toEqual([]);
  take(closed(3, 'move_in_flight'));
  await clock.advance(2_000);
  expect(told).toEqual([
    { kind: 'moves_finished', pool: 'write', ...NOTHING, failed: { move_in_flight: 1 }, durationMs: 0 },
  ]);
});

test('at the end of the program the batches so far are reported', () => {
  const { clock, told, take, batches } = start();
  take(parked(1), parked(2), moved(1, 30));
  batches.stop();
  expect(told).toMatchObject([{ moved: 1 }]);
  expect(clock.pending()).toBe(0);
});

test('the recorder writes and counts the line of a batch', async () => {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const { log } = createLog({ level: 'info', format: 'json', isTerminal: false, destination });
  const clock = new ManualClock();
  const counted: string[] = [];
  const recorder = createRecorder({ log, clock, ids: new EventIds('r1'), count: ({ kind }) => counted.push(kind) });
  for (const event of [parked(1), moved(1, 30)]) recorder.record(event);
  await clock.advance(1_000);
  expect(counted).toEqual(['session_parked', 'session_moved', 'moves_finished']);
  expect(lines).toMatchObject([{ level: 'info', event: 'moves_finished', pool: 'write', moved: 1, from: 'pg-1' }]);
  recorder.stop();
});
