// Metrics and log lines of sessions that move.
import { expect, test } from 'vitest';
import { MOVE_FAILURES } from '../../../src/model/close-reason.ts';
import { PIN_REASONS } from '../../../src/model/moves.ts';
import type { MoveEvent } from '../../../src/reports/move-events.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { Metrics } from '../../../src/telemetry/metrics.ts';
import { EVENT_SAMPLES } from '../../support/values/event-samples.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { NO_COUNTS, aStatusSource } from '../../support/values/status-source.ts';

const session = { pool: 'write', session: 7, cause: 'switchover' } as const;
const moved = { kind: 'session_moved', ...session, from: 'pg-1', to: 'pg-2', gapMs: 420, loginMs: 6 } as const;
const finished = EVENT_SAMPLES.moves_finished.samples[0];

function aMetrics(source: Parameters<typeof aStatusSource>[0] = {}): Metrics {
  return createMetrics({
    version: '1.2.3',
    nodeVersion: 'v24.0.0',
    pools: ['write', 'read'],
    ...aStatusSource(source),
  });
}

/** Those that are not 0. */
async function samples(metrics: Metrics): Promise<readonly string[]> {
  const lines = withoutScope(await metrics.text()).split('\n');
  return lines.filter((line) => /^pointsman_(?:move|session_questions|sessions_(?:parked|pinned))/.test(line));
}

const isSaid = (line: string): boolean => !/_bucket| 0$/.test(line);

function zero(result: string, reason: string): string {
  return `pointsman_moves_total{pool="write",result="${result}",reason="${reason}"} 0`;
}

test('without moves there is no metric of moves', async () => {
  expect(await samples(aMetrics())).toEqual([]);
});

test('every series of a closed list is there with the first event', async () => {
  const metrics = aMetrics();
  metrics.count({ ...moved, wasWaiting: false });
  const lines = await samples(metrics);
  expect(lines).toEqual(expect.arrayContaining(MOVE_FAILURES.map((reason) => zero('failed', reason))));
  expect(lines).toEqual(expect.arrayContaining(PIN_REASONS.map((reason) => zero('stayed', reason))));
  expect(lines).toContain('pointsman_sessions_parked{pool="read"} 0');
  expect(lines.filter((line) => line.startsWith('pointsman_sessions_pinned'))).toEqual([]);
});

test('with moves configured the series are there from the start, the two states included', async () => {
  let hasMoves = true;
  const counts = new Map([['write', NO_COUNTS]]);
  const metrics = aMetrics({ hasMoves: () => hasMoves, counts: () => counts });
  const text = withoutScope(await metrics.text());
  expect(text).toContain(`${zero('moved', 'switchover')}\n`);
  expect(text).toContain('pointsman_sessions{pool="write",state="parked"} 0\n');
  expect(text).toContain('pointsman_sessions{pool="write",state="moving"} 0\n');
  hasMoves = false;
  expect(await metrics.text(), 'after a reload without moves').not.toMatch(/pointsman_sessions\{.*parked/);
});

test('moves by result and reason, their times, questions, and the pins of the last preflight', async () => {
  const metrics = aMetrics({
    counts: () => new Map([['write', { ...NO_COUNTS, states: { ...NO_COUNTS.states, parked: 3, moving: 1 } }]]),
  });
  const events: readonly MoveEvent[] = [
    { kind: 'session_asked', pool: 'write', session: 7, member: 'pg-1', result: 'movable', durationMs: 2 },
    { kind: 'session_parked', ...session, member: 'pg-1', hasAborted: true },
    { kind: 'session_parked', ...session, member: 'pg-1' },
    { ...moved, wasWaiting: true },
    { ...moved, wasWaiting: false },
    { kind: 'session_stayed', ...session, member: 'pg-1', reason: 'listening' },
    { kind: 'preflight_finished', member: 'pg-1', movable: 5, stays: { busy: 4 }, unknown: 0, durationMs: 9 },
    { kind: 'preflight_finished', member: 'pg-1', movable: 5, stays: { listening: 2 }, unknown: 0, durationMs: 9 },
  ];
  events.forEach((event) => metrics.count(event));
  const [closed] = EVENT_SAMPLES.session_closed.samples;
  if (closed === undefined) throw new Error('no sample');
  metrics.count({ ...closed, reason: 'move_login' });
  metrics.count(closed);
  expect((await samples(metrics)).filter((line) => isSaid(line))).toEqual([
    'pointsman_moves_total{pool="write",result="moved",reason="switchover"} 2',
    'pointsman_moves_total{pool="write",result="stayed",reason="listening"} 1',
    'pointsman_moves_total{pool="write",result="failed",reason="move_login"} 1',
    'pointsman_move_seconds_sum 0.012',
    'pointsman_move_seconds_count 2',
    'pointsman_move_gap_seconds_sum{waiting="true"} 0.42',
    'pointsman_move_gap_seconds_count{waiting="true"} 1',
    'pointsman_move_gap_seconds_sum{waiting="false"} 0.42',
    'pointsman_move_gap_seconds_count{waiting="false"} 1',
    'pointsman_session_questions_total{result="movable"} 1',
    'pointsman_sessions_pinned{reason="listening"} 2',
    'pointsman_sessions_parked{pool="write"} 3',
  ]);
  expect(await metrics.text()).toContain('pointsman_sessions{pool="write",state="parked"');
});

test.each<[MoveEvent | undefined, string, string]>([
  [
    finished,
    'info',
    'pool write: 42 sessions moved from pg-1 to pg-2 in 1.2 s, longest gap 420 ms; ' +
      '3 stayed: 2 listen, 1 has temporary objects',
  ],
  [
    finished && { ...finished, stayed: {}, failed: { move_login: 1 }, ended: 2 },
    'warn',
    'pool write: 42 sessions moved from pg-1 to pg-2 in 1.2 s, longest gap 420 ms; 1 failed: 1 move_login; ' +
      '2 ended while parked',
  ],
  [
    finished && { ...finished, moved: 1, to: 'pg-1', stayed: {} },
    'info',
    'pool write: 1 session came back to pg-1 in 1.2 s, longest gap 420 ms',
  ],
  [
    finished && { ...finished, from: undefined, to: undefined, moved: 0, stayed: { busy: 1 } },
    'info',
    'pool write: 0 sessions moved in 1.2 s; 1 stayed: 1 is busy',
  ],
  [
    { kind: 'session_stayed', ...session, member: 'pg-1', reason: 'listening', detail: 'channel jobs' },
    'debug',
    'session 7: stays on pg-1, because it listens (channel jobs)',
  ],
  [
    { ...moved, wasWaiting: true },
    'debug',
    'session 7: moved from pg-1 to pg-2, gap 420 ms, login 6 ms, its client waited',
  ],
])('the line of %j', (event, level, text) => {
  if (event === undefined) throw new Error('no sample');
  const line = logLine(event, true);
  expect([line.level, line.text()]).toEqual([level, text]);
});
