// A flood of refused clients gives few lines in the log.
import { expect, test } from 'vitest';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import type { LogOptions } from '../../../src/telemetry/log.ts';
import { createRecorder } from '../../../src/telemetry/record.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';

function start(level: LogOptions['level'] = 'info') {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const { log } = createLog({ level, format: 'json', isTerminal: false, destination });
  const clock = new ManualClock();
  const counted: string[] = [];
  const recorder = createRecorder({ log, clock, ids: new EventIds('r1'), count: ({ kind }) => counted.push(kind) });
  return { lines, clock, recorder, counted, told: () => lines.map(({ msg }) => msg) };
}

const refused: Extract<ProxyEvent, { kind: 'session_closed' }> = {
  kind: 'session_closed',
  pool: 'write',
  session: 7,
  member: undefined,
  client: '10.1.1.1:5000',
  reason: 'no_route',
  detail: undefined,
  durationMs: 1500,
  toBackendBytes: 0,
  toClientBytes: 0,
};
const failed: ProxyEvent = {
  kind: 'dial_finished',
  pool: 'read',
  session: 7,
  member: 'pg-1',
  outcome: 'refused',
  durationMs: 1,
};

test('the first refusal is written whole, then one line a second with a count; all of them are counted', async () => {
  const { lines, told, clock, recorder, counted } = start();
  for (let count = 0; count < 1_000; count += 1) recorder.record(refused);
  expect(told()).toEqual(['session 7: 10.1.1.1:5000 closed after 1.5 s: no_route']);
  await clock.advance(1_000);
  for (let count = 0; count < 10; count += 1) recorder.record(refused);
  await clock.advance(1_000);
  expect(told().slice(1)).toEqual([
    'pool write: 999 more clients closed within 1 s: no_route',
    'pool write: 10 more clients closed within 1 s: no_route',
  ]);
  expect(lines[1]).toMatchObject({
    level: 'info',
    event: 'repeated',
    of: 'session_closed',
    pool: 'write',
    reason: 'no_route',
    count: 999,
  });
  expect(counted).toHaveLength(1_010);
  await clock.advance(2_000);
  expect([told().length, clock.pending()], 'nothing is left of a flood that is over').toEqual([3, 0]);
  recorder.record(refused);
  expect(told()).toHaveLength(4);
  recorder.stop();
});

test('each kind has a line of its own: pools, reasons, and connects that fail', () => {
  const { told, recorder } = start();
  const kinds: readonly ProxyEvent[] = [
    refused,
    { ...refused, pool: 'read' },
    { ...refused, reason: 'tls_failed', detail: 'wrong version number' },
    failed,
    { ...failed, outcome: 'timeout' },
    { ...failed, member: 'pg-2' },
  ];
  for (const event of [...kinds, ...kinds, ...kinds]) recorder.record(event);
  expect(told()).toHaveLength(kinds.length);
  recorder.stop();
  expect(told()).toHaveLength(2 * kinds.length);
  expect(told()).toContain('pg-1: 2 more connects refused within 1 s');
});

test('a session with a member ends with a line of its own, and at level debug every session does', () => {
  const served = { ...refused, member: 'pg-1', reason: 'evicted_dead' } as const;
  const { told, recorder } = start();
  for (let count = 0; count < 3; count += 1) recorder.record(served);
  expect(told()).toHaveLength(3);
  const debugging = start('debug');
  for (let count = 0; count < 3; count += 1) debugging.recorder.record(refused);
  expect(debugging.told()).toHaveLength(3);
});
