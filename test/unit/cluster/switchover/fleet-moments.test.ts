// A switchover of the fleet notices other things at each moment: before its request, before the schedule is on a list,
// and when its end is decided.
import { beforeEach, expect, test } from 'vitest';
import type { OperationResult } from '../../../../src/documents/cluster-documents.ts';
import { SwitchoverLab } from '../../../support/labs/switchover-lab.ts';

const SCHEDULED: OperationResult = { kind: 'scheduled', text: 'Scheduled.', reason: 'Switchover scheduled' };

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

async function scheduled(inMs = 8_000): Promise<number> {
  lab.start({ fleet: true });
  await lab.reach('schedule');
  lab.answer.give(SCHEDULED);
  await lab.clock.advance(1_000);
  const at = lab.clock.now() + inMs;
  lab.listSchedule(at);
  return at;
}

test('a cancellation ends the check at once', async () => {
  lab.report = () => new Promise(() => {});
  lab.operations.cancel(lab.start({ fleet: true }), 'the operator');
  await lab.clock.advance(10);
  expect(lab.document().phase).toBe('release');
});

test('each problem of the plan is told', async () => {
  lab.hold = { ...lab.hold, clientTimeoutMs: 500 };
  lab.start({ fleet: true, to: 'pg-9' });
  const why = expect.stringMatching(/^unknown member pg-9: the members are .*; clients wait for 500 ms at most/);
  expect(await lab.end()).toMatchObject({ outcome: 'refused', why });
});

test('a table that comes during the check tells nothing of the switchover', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = lab.report;
  lab.report = () => promise.then(read);
  const waiting = scheduled();
  await lab.clock.advance(1_000);
  resolve();
  await waiting;
  await lab.reach('switch');
  await lab.clock.advance(1_000);
  expect(lab.document()).toMatchObject({ phase: 'switch', without_primary_ms: null });
});

test.each([
  ['the operator', 10_000],
  ['the end of the program', 2_000],
])('the schedule is to be taken back, and no answer comes: %s waits for %d ms', async (by, limitMs) => {
  await scheduled(20_000);
  lab.takenBack = new Promise(() => {});
  if (by === 'the operator') lab.operations.cancel(lab.document().id, by);
  else void lab.operations.stop();
  await lab.clock.advance(limitMs - 10);
  expect(lab.document().phase).toBe('schedule');
  await lab.clock.advance(20);
  const why = expect.stringMatching(/; the schedule was not taken back: the cluster did not answer$/);
  expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why });
});

test('a request without an answer, and without a schedule on a list, is taken back', async () => {
  lab.start({ fleet: true });
  const why = 'no list of members has the schedule: the request has no answer';
  expect(await lab.end()).toMatchObject({ outcome: 'failed', why });
  expect(lab.asked.at(-1)).toEqual({ kind: 'cancel_switchover' });
});

test('a schedule counts whose request has no answer, and so does the moment at which the primary stops', async () => {
  lab.start({ fleet: true });
  await lab.reach('schedule');
  lab.listSchedule(lab.clock.now() + 4_000);
  await lab.clock.advance(5_000);
  lab.stepDown();
  await lab.clock.advance(3_000);
  lab.promote('pg-2');
  expect(await lab.end()).toMatchObject({ outcome: 'done', why: 'pg-2 is the primary' });
  expect(lab.document().without_primary_ms).toBeGreaterThanOrEqual(2_900);
});

test('another primary, before a list has the schedule, is the next one', async () => {
  lab.start({ fleet: true });
  await lab.reach('schedule');
  lab.answer.give(SCHEDULED);
  lab.promote('pg-2');
  await lab.clock.advance(300);
  expect(await lab.end()).toMatchObject({ outcome: 'done', why: 'pg-2 is the primary', switch_ms: null });
});

test('it confirms when the primary has stopped, and clients of another pool do not wait for it', async () => {
  await scheduled();
  await lab.reach('hold');
  lab.tell({ kind: 'hold_started', pool: 'write', session: 8, cause: 'switchover' });
  lab.tell({ kind: 'hold_started', pool: 'read', session: 9, cause: 'switchover' });
  await lab.reach('switch');
  await lab.clock.advance(1_000);
  expect(lab.document()).toMatchObject({ phase: 'switch', switch_ms: null, without_primary_ms: null });
  lab.stepDown();
  await lab.reach('confirm');
  lab.promote('pg-2');
  expect(await lab.end()).toMatchObject({ outcome: 'done', sessions: { held: 1 } });
});

test('a reload before the request ends it', async () => {
  lab.report = () => new Promise(() => {});
  lab.start({ fleet: true });
  lab.operations.reloaded();
  const end = await lab.end();
  expect(end).toMatchObject({ outcome: 'cancelled', why: 'by a reload of the configuration' });
  expect(lab.asked).toEqual([]);
});

test('the switch is counted from the time of the schedule to the proof', async () => {
  const at = await scheduled();
  await lab.reach('switch');
  await lab.clock.advance(2_000);
  lab.promote('pg-2');
  expect(await lab.end()).toMatchObject({ outcome: 'done' });
  const { switch_ms: switchMs } = lab.document();
  expect(switchMs).toBeGreaterThanOrEqual(2_000);
  expect(switchMs).toBeLessThanOrEqual(lab.clock.now() - at);
});

test('each request to the cluster is followed by a look at its list', async () => {
  await scheduled(20_000);
  expect(lab.hints).toBe(1);
  lab.operations.cancel(lab.document().id, 'the operator');
  expect(await lab.end()).toMatchObject({ outcome: 'cancelled' });
  expect(lab.hints).toBe(2);
});

test('a schedule that no list has shown so far is not one that somebody has cancelled', async () => {
  lab.start({ fleet: true });
  await lab.reach('schedule');
  lab.answer.give(SCHEDULED);
  await lab.clock.advance(6_000);
  lab.operations.cancel(lab.document().id, 'the operator');
  expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why: 'by the operator' });
  expect(lab.asked.at(-1)).toEqual({ kind: 'cancel_switchover' });
});

test('a primary that stops long before the time: the next one has the whole limit behind that time', async () => {
  const at = await scheduled(20_000);
  lab.stepDown();
  expect(await lab.end()).toMatchObject({ outcome: 'unknown' });
  expect(lab.clock.now()).toBeGreaterThanOrEqual(at + 25_000);
});

test('a primary that follows when the end is decided changes nothing', async () => {
  lab.sessions = 1;
  await scheduled();
  await lab.reach('hold');
  lab.tell({ kind: 'session_parked', pool: 'write', session: 7, member: 'pg-1', cause: 'switchover' });
  lab.operations.cancel(lab.document().id, 'the operator');
  await lab.reach('release');
  lab.promote('pg-2');
  expect(await lab.end()).toMatchObject({ outcome: 'cancelled', switch_ms: null, without_primary_ms: null });
});
