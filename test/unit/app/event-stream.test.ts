import { beforeEach, expect, test } from 'vitest';
import { EventStream } from '../../../src/app/event-stream.ts';
import type { CloseReason } from '../../../src/model/close-reason.ts';
import type { DialOutcome, ReportedEvent } from '../../../src/reports/events.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

let clock: ManualClock;
let heard: string[];
let mayWait: boolean;
let events: EventStream;

beforeEach(() => {
  [clock, heard, mayWait] = [new ManualClock(), [], true];
  events = new EventStream({ clock, mayWait: () => mayWait });
  events.listen(({ kind }, at) => heard.push(at === undefined ? kind : `${kind} at ${at}`));
});

const OF_SESSION = { pool: 'write', session: 7, client: '10.0.0.1:50000', member: 'pg-1' } as const;
const OPENED: ReportedEvent = { kind: 'session_opened', ...OF_SESSION };
const DRAINED: ReportedEvent = { kind: 'member_drained', member: 'pg-1' };

function closed(reason: CloseReason): ReportedEvent {
  const bytes = { toBackendBytes: 0, toClientBytes: 0 };
  return { kind: 'session_closed', ...OF_SESSION, reason, detail: undefined, durationMs: 5, ...bytes };
}

function dialed(outcome: DialOutcome): ReportedEvent {
  return { kind: 'dial_finished', pool: 'write', session: 7, member: 'pg-1', outcome, durationMs: 1 };
}

test('what usually happens to a session waits for a tenth of a second, and keeps its time', async () => {
  const from = clock.now();
  for (const event of [dialed('connected'), OPENED, closed('client_closed')]) events.emit(event);
  await clock.advance(99);
  expect(heard).toEqual([]);
  await clock.advance(1);
  expect(heard).toEqual([`dial_finished at ${from}`, `session_opened at ${from}`, `session_closed at ${from}`]);
  expect(clock.pending()).toBe(0);
  events.emit(OPENED, 3);
  await clock.advance(100);
  expect(heard.at(-1)).toBe('session_opened at 3');
});

test.each([
  ['another event', DRAINED],
  ['a connect that failed', dialed('refused')],
  ['a session that Pointsman ended', closed('internal_error')],
  ['an end that the log tells at info', closed('client_tcp_timeout')],
])('%s comes at once, behind what waited', (_, event) => {
  events.emit(OPENED);
  events.emit(event);
  expect(heard).toEqual([expect.stringMatching(/^session_opened at/), event.kind]);
  expect(clock.pending()).toBe(0);
});

test('a reader has all that happened before it', () => {
  events.emit(OPENED);
  events.flush();
  events.flush();
  expect(heard).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});

test('no more than a few hundred wait', () => {
  for (let session = 1; session < 1000; session += 1) events.emit({ ...OPENED, session });
  expect(heard.length).toBeGreaterThan(700);
});

test('where each event is read in its moment, none waits', () => {
  mayWait = false;
  events.emit(OPENED);
  expect(heard).toEqual(['session_opened']);
});

test('what a receiver tells because of an event comes before the next reader', () => {
  events.listen(({ kind }) => {
    if (kind === 'session_opened') events.emit(DRAINED);
  });
  events.emit(OPENED);
  events.flush();
  expect(heard.map((text) => text.split(' ')[0])).toEqual(['session_opened', 'member_drained']);
});
