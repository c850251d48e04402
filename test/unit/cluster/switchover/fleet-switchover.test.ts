// The switchover of every Pointsman of a cluster: the cluster schedules it. It is carried out, or not, or taken back,
// and each time it ends with a clear word and no client waits.
import { beforeEach, describe, expect, test } from 'vitest';
import { OVERDUE_MS } from '../../../../src/core/operator-override.ts';
import type { OperationResult } from '../../../../src/documents/cluster-documents.ts';
import { SwitchoverLab } from '../../../support/labs/switchover-lab.ts';
import { openIn } from '../../../support/values/builders.ts';

const SCHEDULED: OperationResult = { kind: 'scheduled', text: 'Scheduled.', reason: 'Switchover scheduled' };
const REJECTED: OperationResult = { kind: 'precondition', status: 412, text: 'Not possible now.', reason: 'no' };
const LOST: OperationResult = { kind: 'no_answer', text: 'pg-1 did not answer.', may_have_happened: true };

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

interface Given {
  readonly to?: string;
  readonly answer?: OperationResult;
  readonly inMs?: number;
}

/** Returns the time of the switchover. */
async function scheduled({ to, answer = SCHEDULED, inMs = 8_000 }: Given = {}): Promise<number> {
  lab.start({ fleet: true, ...(to && { to }) });
  await lab.reach('schedule');
  lab.answer.give(answer);
  await lab.clock.advance(1_000);
  const at = lab.clock.now() + inMs;
  lab.listSchedule(at);
  return at;
}

function isServed(): boolean {
  return openIn(lab.table(), 'write').includes('pg-1');
}

test('it is asked for ahead, clients wait shortly before its time, and the proof ends it', async () => {
  lab.sessions = 2;
  const at = await scheduled({ inMs: 20_000 });
  expect(lab.asked).toEqual([
    { kind: 'switchover', leader: 'pg-1', scheduled_at: new Date(Date.UTC(2026, 0, 1) + 23_000).toISOString() },
  ]);
  await lab.clock.advance(18_000);
  expect([lab.document().phase, isServed()]).toEqual(['schedule', true]);
  await lab.reach('hold');
  expect(lab.clock.now()).toBeGreaterThanOrEqual(at - 1_000);
  expect(isServed()).toBe(false);
  lab.tell({ kind: 'hold_started', pool: 'write', session: 9, cause: 'switchover' });
  await lab.reach('switch');
  expect(lab.clock.now()).toBeGreaterThanOrEqual(at);
  lab.sessions = 0;
  lab.stepDown();
  await lab.reach('confirm');
  lab.listSchedule(undefined);
  await lab.clock.advance(2_000);
  lab.promote('pg-2');
  expect(await lab.end()).toMatchObject({
    outcome: 'done',
    why: 'pg-2 is the primary',
    fleet: true,
    sessions: { at_start: 2, held: 1 },
    primary: 'pg-2',
  });
  expect(lab.phases()).toEqual(['check', 'schedule', 'hold', 'switch', 'confirm', 'release']);
  expect(lab.handovers, 'the schedule alone takes the clients away').toEqual([]);
  expect(lab.document().without_primary_ms).toBeGreaterThanOrEqual(2_000);
});

test('a lost answer counts for nothing: the list has the schedule', async () => {
  await scheduled({ answer: LOST });
  await lab.reach('switch');
  lab.promote('pg-3');
  expect(await lab.end()).toMatchObject({ outcome: 'done', why: 'pg-3 is the primary' });
});

test('the setting of the file makes each switchover one of the fleet', async () => {
  lab.isFleet = true;
  lab.start();
  await lab.reach('schedule');
  expect(lab.document().fleet).toBe(true);
});

describe('it ends in another way than planned', () => {
  test('another member follows', async () => {
    await scheduled({ to: 'pg-2' });
    expect(lab.asked[0]).toMatchObject({ candidate: 'pg-2' });
    await lab.reach('switch');
    lab.promote('pg-3');
    expect(await lab.end()).toMatchObject({ outcome: 'done', why: 'pg-3 is the primary instead of pg-2', to: 'pg-2' });
  });

  test('before its time, by a failover', async () => {
    await scheduled({ to: 'pg-2', inMs: 20_000 });
    lab.promote('pg-2');
    const why = 'pg-2 is the primary, before the time of the switchover';
    expect(await lab.end()).toMatchObject({ outcome: 'done', why, held_ms: null });
  });

  test('the primary stops and comes back', async () => {
    await scheduled();
    await lab.reach('switch');
    lab.stepDown();
    await lab.reach('confirm');
    await lab.clock.advance(1_000);
    lab.promote('pg-1');
    const why = 'pg-1 stepped down and is the primary again';
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why });
  });

  test('by a fault of the program', async () => {
    await scheduled();
    lab.onCount = () => {
      throw new Error('broken');
    };
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why: 'unexpected error: Error: broken' });
    expect(lab.isBusy).toBe(false);
  });
});

describe('before the request', () => {
  test('the cluster does not answer the check', async () => {
    lab.report = () => new Promise(() => {});
    lab.start({ fleet: true });
    const end = await lab.end();
    expect(end).toMatchObject({ outcome: 'refused', why: 'the cluster did not answer within 15 s', from: null });
    expect(lab.asked).toEqual([]);
  });

  test('the operator cancels the check', async () => {
    lab.report = () => new Promise(() => {});
    lab.start({ fleet: true });
    lab.operations.cancel(lab.document().id, 'the operator');
    expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why: 'by the operator' });
    expect(lab.asked).toEqual([]);
  });

  test('the plan has a problem', async () => {
    lab.hold = { ...lab.hold, clientTimeoutMs: 500 };
    lab.start({ fleet: true, to: 'pg-9' });
    const end = await lab.end();
    expect(end).toMatchObject({ outcome: 'refused', why: expect.stringContaining('pg-9') });
    expect(lab.asked).toEqual([]);
  });
});

describe('the end waits for parked sessions', () => {
  const TIMES = { gapMs: 900, loginMs: 9, wasWaiting: false };
  const FROM = { pool: 'write', session: 7, member: 'pg-1' } as const;

  beforeEach(async () => {
    lab.sessions = 1;
    await scheduled();
    await lab.reach('hold');
    lab.tell({ ...FROM, kind: 'session_parked', cause: 'switchover' });
    await lab.reach('switch');
    lab.promote('pg-2');
    await lab.reach('release');
  });

  test('until each has moved', async () => {
    await lab.clock.advance(3_000);
    expect(lab.document()).toMatchObject({ state: 'running', outcome: null });
    lab.tell({
      kind: 'session_moved',
      pool: 'write',
      session: 7,
      from: 'pg-1',
      to: 'pg-2',
      cause: 'switchover',
      ...TIMES,
    });
    await lab.clock.advance(10);
    expect(lab.document()).toMatchObject({ state: 'ended', outcome: 'done', sessions: { parked: 1, moved: 1 } });
  });

  test('as long as a session may be parked', async () => {
    expect(await lab.end()).toMatchObject({ outcome: 'done', sessions: { parked: 1, moved: 0 } });
  });

  test('not while the program ends', async () => {
    void lab.operations.stop();
    await lab.clock.advance(10);
    expect(lab.document()).toMatchObject({ state: 'ended', outcome: 'done' });
  });
});

describe('the cluster does not carry it out', () => {
  test('it rejects the request: no client has waited', async () => {
    lab.start({ fleet: true });
    await lab.reach('schedule');
    lab.answer.give(REJECTED);
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why: 'Not possible now.', held_ms: null });
  });

  test('no list ever has the schedule: it is taken back', async () => {
    lab.start({ fleet: true });
    await lab.reach('schedule');
    lab.answer.give(LOST);
    const why = 'no list of members has the schedule: pg-1 did not answer.';
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why });
    expect(lab.asked.at(-1)).toEqual({ kind: 'cancel_switchover' });
  });

  test('somebody else cancels it', async () => {
    await scheduled();
    await lab.clock.advance(5_000);
    lab.listSchedule(undefined);
    const why = 'somebody has cancelled the schedule; pg-1 stays the primary';
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why, primary: 'pg-1', held_ms: null });
  });

  test('no member can follow when its time has come: clients are released', async () => {
    await scheduled();
    await lab.reach('switch');
    expect(isServed()).toBe(false);
    await lab.clock.advance(300);
    lab.listSchedule(undefined);
    expect(isServed()).toBe(true);
    const why = 'the cluster did not carry out the schedule: no member could follow pg-1, or it was cancelled';
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why, primary: 'pg-1' });
  });

  test('G22: it stays on the list for ever: clients are released when it is overdue', async () => {
    const at = await scheduled();
    await lab.reach('switch');
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why: 'pg-1 is still the primary 15 s after the time' });
    expect(lab.clock.now()).toBeLessThan(at + OVERDUE_MS + 2_000);
    expect(isServed()).toBe(true);
  });

  test('the primary stops and nobody follows', async () => {
    await scheduled();
    await lab.reach('switch');
    lab.stepDown();
    const why = 'no primary other than pg-1 was proven within 25 s';
    expect(await lab.end()).toMatchObject({ outcome: 'unknown', why, primary: null, without_primary_ms: null });
  });
});

describe('the operator cancels', () => {
  test('before the time: the schedule is taken back', async () => {
    await scheduled({ inMs: 20_000 });
    lab.operations.cancel(lab.document().id, 'the operator');
    expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why: 'by the operator' });
    expect(lab.asked.at(-1)).toEqual({ kind: 'cancel_switchover' });
  });

  test('shortly before: the member may sleep until the time, and ask nobody', async () => {
    await scheduled();
    await lab.reach('hold');
    lab.operations.cancel(lab.document().id, 'the operator');
    const why = 'by the operator; the schedule was taken back late, and the cluster may still switch';
    expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why });
  });

  test('and the cluster refuses that', async () => {
    await scheduled({ inMs: 20_000 });
    lab.takenBack = REJECTED;
    lab.operations.cancel(lab.document().id, 'the operator');
    const why = 'by the operator; the schedule was not taken back: Not possible now.';
    expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why });
  });

  test('after the time: the proof is awaited, and a second cancellation ends it', async () => {
    await scheduled();
    await lab.reach('switch');
    lab.stepDown();
    await lab.reach('confirm');
    const { id } = lab.document();
    lab.operations.cancel(id, 'the operator');
    await lab.clock.advance(1_000);
    expect(lab.document().state).toBe('running');
    lab.operations.cancel(id, 'the operator');
    expect(await lab.end()).toMatchObject({ outcome: 'cancelled' });
  });

  test('a reload leaves the schedule, and the end of the program takes it back', async () => {
    await scheduled({ inMs: 20_000 });
    lab.operations.reloaded();
    await lab.clock.advance(1_000);
    expect(lab.document().state).toBe('running');
    const stopped = lab.operations.stop();
    await lab.end();
    await stopped;
    expect(lab.document()).toMatchObject({ outcome: 'cancelled', why: 'by the shutdown of Pointsman' });
    expect(lab.asked.at(-1)).toEqual({ kind: 'cancel_switchover' });
  });
});
