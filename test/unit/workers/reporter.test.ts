import { NO_CLIENTS } from '../../../src/reports/counts.ts';
import { expect, test } from 'vitest';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import { NO_TALLY } from '../../../src/reports/tally.ts';
import type { WorkerReport } from '../../../src/workers/messages.ts';
import { Reporter } from '../../../src/workers/reporter.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const event: ProxyEvent = { kind: 'listener_failed', pool: 'read', detail: 'EMFILE' };

function aReporter() {
  const clock = new ManualClock();
  const sent: { readonly at: number; readonly report: WorkerReport }[] = [];
  const now = {
    counts: new Map(),
    clients: NO_CLIENTS,
    tally: NO_TALLY,
    certificate: undefined,
    usage: { cpuSeconds: 0, residentBytes: 0 },
  };
  const start = clock.now();
  const reporter = new Reporter({
    clock,
    read: () => now,
    send: (report) => sent.push({ at: clock.now() - start, report }),
  });
  return { clock, start, reporter, sent };
}

test('many changes are one report, 20 ms after the first; its events keep their order and times', async () => {
  const { clock, start, reporter, sent } = aReporter();
  reporter.happened(event);
  await clock.advance(19);
  reporter.changed();
  reporter.happened({ ...event, pool: 'write' });
  expect(sent).toEqual([]);
  await clock.advance(500);
  expect(sent.map(({ at }) => at)).toEqual([20]);
  expect(sent[0]?.report.events.map(({ event, at }) => ['pool' in event && event.pool, at - start])).toEqual([
    ['read', 0],
    ['write', 19],
  ]);
});

test('a sign of life each second, also without changes; no report after stop()', async () => {
  const { clock, reporter, sent } = aReporter();
  await clock.advance(3_500);
  expect(sent.map(({ at }) => at)).toEqual([1000, 2000, 3000]);
  reporter.happened(event);
  reporter.stop();
  await clock.advance(5_000);
  expect(sent).toHaveLength(3);
  expect(clock.pending()).toBe(0);
});

test('a large number of events is sent at once', async () => {
  const { clock, reporter, sent } = aReporter();
  for (let i = 0; i < 600; i += 1) reporter.happened(event);
  expect(sent, 'not in the middle of a step').toEqual([]);
  await clock.advance(0);
  expect(sent.map(({ report }) => report.events.length)).toEqual([600]);
  await clock.advance(100);
  expect(sent).toHaveLength(1);
});
