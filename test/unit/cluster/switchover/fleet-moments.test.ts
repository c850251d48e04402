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
