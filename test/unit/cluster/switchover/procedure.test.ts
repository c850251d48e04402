// The switchover that holds clients, phase by phase: it succeeds, fails, is cancelled, runs out of time or loses its
// answer. After each of these no client is held.
import { beforeEach, describe, expect, test } from 'vitest';
import type { OperationResult } from '../../../../src/documents/cluster-documents.ts';
import { openIn, refused } from '../../../support/values/builders.ts';
import { SwitchoverLab } from '../../../support/labs/switchover-lab.ts';
import { configOf, load } from '../../../support/values/loading.ts';

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

const DONE: OperationResult = { kind: 'done', text: 'Done.', reason: 'Successfully switched over to "pg-2"' };
const REJECTED: OperationResult = { kind: 'precondition', status: 412, text: 'Not possible now.', reason: 'no' };
const LOST: OperationResult = { kind: 'no_answer', text: 'pg-1 did not answer.', may_have_happened: true };
const NOT_SENT: OperationResult = { kind: 'no_answer', text: 'No request was sent.', may_have_happened: false };

async function toSwitch(): Promise<void> {
  lab.start();
  await lab.reach('switch');
}

function expectReleased(): void {
  expect(lab.isHolding()).toBe(false);
  expect(lab.handovers.at(-1)).toBeUndefined();
}

describe('a switchover that succeeds', () => {
  test('goes through every phase, and ends the hold', async () => {
    lab.sessions = 3;
    const id = lab.start({ to: 'pg-2' });
    await lab.reach('drain');
    expect(openIn(lab.table(), 'write')).toEqual([]);
    await lab.clock.advance(500);
    lab.sessions = 0;
    await lab.reach('switch');
    expect(lab.asked).toEqual([{ kind: 'switchover', leader: 'pg-1', candidate: 'pg-2' }]);
    await lab.clock.advance(1000);
    lab.stepDown();
    await lab.reach('confirm');
    await lab.clock.advance(2000);
    lab.promote('pg-2');
    lab.answer.give(DONE);
    expect(await lab.end()).toMatchObject({
      id,
      outcome: 'done',
      why: 'pg-2 is the primary',
      from: 'pg-1',
      primary: 'pg-2',
      sessions: { at_start: 3, ended: 3, cut: 0, lost: 0 },
      cluster: { leader: 'pg-1' },
    });
    expect(lab.phases()).toEqual(['check', 'hold', 'drain', 'switch', 'confirm', 'release']);
    expect(lab.document().without_primary_ms).toBeGreaterThanOrEqual(2000);
    expect(lab.document().without_primary_ms).toBeLessThanOrEqual(2200);
    expect(lab.document()).toMatchObject({ kind: 'switchover', to: 'pg-2', fleet: false });
    expect(lab.handovers.map((handover) => handover?.phase)).toEqual(['hold', 'drain', undefined]);
    expectReleased();
    // Nothing of it is left but the next probe of the lab.
    expect(lab.clock.pending()).toBe(1);
  });

  test('needs no answer: the proof of the next primary counts', async () => {
    await toSwitch();
    lab.promote('pg-3');
    expect(await lab.end()).toMatchObject({ outcome: 'done', why: 'pg-3 is the primary' });
  });

  test('tells when another member than the wanted one took over', async () => {
    lab.start({ to: 'pg-2' });
    await lab.reach('switch');
    lab.promote('pg-3');
    expect(await lab.end()).toMatchObject({ outcome: 'done', why: 'pg-3 is the primary instead of pg-2' });
  });

  test('waits for sessions that connect when the hold begins, but not for long', async () => {
    lab.connecting = 1;
    lab.start();
    await lab.reach('hold');
    await lab.clock.advance(300);
    expect(lab.document().phase).toBe('hold');
    await lab.clock.advance(300);
    expect(lab.document().phase).not.toBe('hold');
    const [hold, drain] = lab.handovers;
    expect(hold).toMatchObject({ operation: 'switchover', phase: 'hold', mostMs: 28_000 });
    // The time of the hold runs on.
    expect(drain).toEqual({ ...hold, phase: 'drain' });
  });

  test('counts held clients, cut sessions, and sessions that end otherwise', async () => {
    lab.sessions = 5;
    lab.start();
    await lab.reach('drain');
    const closed = {
      kind: 'session_closed',
      pool: 'write',
      session: 1,
      client: 'c',
      detail: undefined,
      durationMs: 1,
      toBackendBytes: 0,
      toClientBytes: 0,
    } as const;
    lab.tell({ kind: 'hold_started', pool: 'write', session: 9, cause: 'switchover' });
    lab.tell({ kind: 'hold_started', pool: 'write', session: 10, cause: 'switchover' });
    // They wait for something else.
    lab.tell({ kind: 'hold_started', pool: 'read', session: 11, cause: 'no_member' });
    lab.tell({ kind: 'hold_ended', pool: 'read', session: 11, outcome: 'timeout', waitedMs: 30_000 });
    expect(lab.document()).toMatchObject({ outcome: null, why: null });
    lab.tell({ ...closed, member: 'pg-1', reason: 'client_closed' });
    lab.tell({ ...closed, member: 'pg-1', reason: 'evicted_switchover_timeout' });
    lab.tell({ ...closed, member: 'pg-1', reason: 'evicted_switchover' });
    lab.tell({ ...closed, member: 'pg-2', reason: 'backend_closed' });
    lab.tell({ ...closed, member: 'pg-1', reason: 'backend_closed' });
    lab.tell({ kind: 'hold_ended', pool: 'write', session: 9, outcome: 'released', waitedMs: 70 });
    // With its worker.
    lab.tell({ kind: 'hold_started', pool: 'write', session: 12, cause: 'switchover' });
    lab.tell({ kind: 'hold_ended', pool: 'write', session: 12, outcome: 'refused', waitedMs: 7 });
    lab.sessions = 0;
    await lab.reach('switch');
    expect(lab.document().sessions).toEqual({
      at_start: 5,
      held: 3,
      waiting: 1,
      longest_wait_ms: 70,
      not_served: 1,
      ended: 2,
      parked: 0,
      moved: 0,
      aborted: 0,
      move_failed: 0,
      cut: 1,
      lost: 1,
    });
  });

  test('goes on to switch when a session is left after the time for transactions', async () => {
    lab.sessions = 1;
    lab.start({ transactionMs: 2000 });
    await lab.reach('drain');
    await lab.clock.advance(1900);
    expect(lab.document().phase).toBe('drain');
    await lab.clock.advance(800);
    expect(lab.document().phase).toBe('switch');
  });

  test('waits for transactions no longer than their time and the delay of the workers', async () => {
    lab.sessions = 1;
    lab.start({ transactionMs: 2010 });
    await lab.reach('switch');
    expect(lab.document().phases[2]).toMatchObject({ phase: 'drain', duration_ms: 2510 });
  });

  test('and with on_stays: abort for the time that it takes to end them', async () => {
    lab = new SwitchoverLab({ moves: configOf(load('moves: { roles: [app], on_stays: abort }')).moves });
    lab.sessions = 1;
    lab.start({ transactionMs: 2010 });
    await lab.reach('switch');
    expect(lab.document().phases[2]).toMatchObject({ phase: 'drain', duration_ms: 4010 });
  });
});

describe('a switchover that is refused', () => {
  test('holds nobody', async () => {
    lab.start({ to: 'pg-9' });
    const { outcome, why, phases } = await lab.end();
    expect([outcome, why]).toEqual(['refused', 'unknown member pg-9: the members are pg-1, pg-2, pg-3']);
    expect(lab.clock.now()).toBeLessThan(1500);
    expect(phases.map(({ phase }) => phase)).toEqual(['check', 'release']);
    expect(lab.handovers).toEqual([]);
  });

  test('names each problem of the plan', async () => {
    lab.hold = { ...lab.hold, clientTimeoutMs: 0 };
    lab.start({ to: 'pg-9' });
    const { why } = await lab.end();
    expect(why).toMatch(/^unknown member pg-9: [^;]*; clients wait for 0 ms at most/);
  });

  test('the cluster does not answer', async () => {
    lab.report = () => new Promise(() => {});
    lab.start();
    await lab.clock.advance(15_000);
    expect(await lab.end()).toMatchObject({ outcome: 'refused', why: 'the cluster did not answer within 15 s' });
  });
});

describe('G22: nobody stays held after a switchover that fails', () => {
  test.each([
    ['is rejected', REJECTED, 'Not possible now.'],
    ['could not be sent', NOT_SENT, 'No request was sent.'],
    ['is forbidden', { ...REJECTED, kind: 'unauthorized', text: 'No.' } as const, 'No.'],
    ['failed', { ...REJECTED, kind: 'failed', text: 'Failed.', reason: 'Switchover failed' } as const, 'Failed.'],
  ])('the request %s: released at once', async (_, answer, why) => {
    await toSwitch();
    lab.answer.give(answer);
    await lab.clock.advance(0);
    expectReleased();
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why });
    expect(lab.phases()).toEqual(['check', 'hold', 'drain', 'switch', 'release']);
  });

  test.each([
    ['no answer came', undefined, 'the request has no answer yet'],
    ['the answer was lost', LOST, LOST.text],
    ['the request broke off', new Error('socket hang up'), 'Error: socket hang up'],
    [
      'the cluster does not know',
      { ...REJECTED, kind: 'failed', reason: 'Switchover status unknown' } as const,
      REJECTED.text,
    ],
    ['the cluster reports success', DONE, DONE.text],
  ])('%s, and no primary: held for no longer than the limit', async (_, answer, told) => {
    lab.sessions = 1;
    lab.start();
    await lab.reach('drain');
    await lab.clock.advance(2_000);
    lab.sessions = 0;
    await lab.reach('switch');
    if (answer instanceof Error) lab.answer.fail(answer);
    else if (answer !== undefined) lab.answer.give(answer);
    await lab.clock.advance(23_000);
    expect(lab.isHolding()).toBe(true);
    await lab.clock.advance(3_000);
    expectReleased();
    const { outcome, why, switch_ms: switchMs } = await lab.end();
    expect([outcome, switchMs]).toEqual(['unknown', null]);
    expect(why).toMatch(/^no primary other than pg-1 was proven within 2[56](?:\.\d)? s: /);
    expect(why).toContain(`: ${told}`);
  });

  test.each(['hold', 'drain'])('a fault of the program in %s', async (phase) => {
    [lab.sessions, lab.connecting] = [1, 1];
    lab.start();
    await lab.reach(phase);
    lab.onCount = () => Promise.reject(new Error('a fault'));
    await lab.clock.advance(100);
    expectReleased();
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why: 'unexpected error: Error: a fault' });
    expect(lab.asked).toEqual([]);
  });

  test('the cluster cannot be read at the end', async () => {
    await toSwitch();
    lab.report = () => Promise.reject(new Error('a fault'));
    lab.promote('pg-2');
    await lab.reach('release');
    expect(await lab.end()).toMatchObject({ outcome: 'done', cluster: null });
    expect(lab.document().phases.at(-1)).toMatchObject({ phase: 'release', duration_ms: 0 });
  });

  test('the answer was lost, and the switch happens: released with the proof', async () => {
    await toSwitch();
    lab.answer.give(LOST);
    await lab.clock.advance(3_000);
    lab.promote('pg-2');
    await lab.clock.advance(200);
    expectReleased();
    expect(await lab.end()).toMatchObject({ outcome: 'done' });
  });

  test('the request breaks off without an answer', async () => {
    await toSwitch();
    lab.answer.fail(new Error('socket hang up'));
    lab.promote('pg-2');
    expect(await lab.end()).toMatchObject({ outcome: 'done' });
  });

  test('the primary steps down and comes back', async () => {
    await toSwitch();
    lab.stepDown();
    await lab.clock.advance(1_000);
    lab.promote('pg-1');
    await lab.clock.advance(200);
    expectReleased();
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why: 'pg-1 stepped down and is the primary again' });
  });

  test('the primary is silent for longer than a yes counts, and says yes again: it never stepped down', async () => {
    await toSwitch();
    lab.silent.add('pg-1');
    await lab.clock.advance(6_000);
    lab.silent.delete('pg-1');
    await lab.clock.advance(1_000);
    lab.promote('pg-2');
    expect(await lab.end()).toMatchObject({ outcome: 'done' });
  });

  test('it is silent, says yes again and goes on to: it is still the primary', async () => {
    await toSwitch();
    lab.silent.add('pg-1');
    await lab.clock.advance(6_000);
    lab.silent.delete('pg-1');
    await lab.clock.advance(5_500);
    expectReleased();
    const why = 'pg-1 did not answer for a while and is still the primary';
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why });
  });

  test('another member takes over before the request', async () => {
    lab.sessions = 1;
    lab.start();
    await lab.reach('drain');
    lab.promote('pg-3');
    await lab.clock.advance(200);
    expectReleased();
    expect(await lab.end()).toMatchObject({
      outcome: 'failed',
      why: 'pg-3 became the primary before the request was sent',
      switch_ms: null,
      without_primary_ms: null,
    });
    expect(lab.asked).toEqual([]);
  });

  test.each(['hold', 'drain'])('the primary dies in %s', async (phase) => {
    lab.sessions = 1;
    lab.connecting = 1;
    lab.start();
    await lab.reach(phase);
    lab.silent.add('pg-1');
    lab.take(refused({ member: 'pg-1', at: lab.clock.now() }));
    await lab.clock.advance(100);
    expectReleased();
    const why = 'the API and PostgreSQL of pg-1 refuse connections; no request was sent';
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why });
    expect(lab.asked).toEqual([]);
  });

  test('the candidate dies in drain', async () => {
    lab.sessions = 1;
    lab.start({ to: 'pg-2' });
    await lab.reach('drain');
    lab.silent.add('pg-2');
    lab.take(refused({ member: 'pg-2', at: lab.clock.now() }));
    await lab.clock.advance(100);
    expectReleased();
    expect(await lab.end()).toMatchObject({ outcome: 'failed', why: 'pg-2 went down; no request was sent' });
  });

  test('the primary dies in switch: served again with the first proven primary', async () => {
    await toSwitch();
    lab.silent.add('pg-1');
    lab.take(refused({ member: 'pg-1', at: lab.clock.now() }));
    await lab.clock.advance(5_000);
    lab.promote('pg-3');
    await lab.clock.advance(200);
    expectReleased();
    expect(await lab.end()).toMatchObject({ outcome: 'done', primary: 'pg-3' });
  });
});
