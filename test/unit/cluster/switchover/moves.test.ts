// A switchover whose sessions move: they are parked instead of ended, and the operation ends when each of them goes on
// or has ended.
import { beforeEach, expect, test } from 'vitest';
import type { CloseReason } from '../../../../src/model/close-reason.ts';
import { SwitchoverLab } from '../../../support/labs/switchover-lab.ts';

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

function park(session: number): void {
  lab.tell({ kind: 'session_parked', pool: 'write', session, member: 'pg-1', cause: 'switchover' });
}

/** In a transaction. */
function abort(session: number): void {
  const parked = { kind: 'session_parked', pool: 'write', session, member: 'pg-1', cause: 'switchover' } as const;
  lab.tell({ ...parked, hasAborted: true });
}

function move(session: number, to: string): void {
  const times = { gapMs: 900, loginMs: 9, wasWaiting: false };
  lab.tell({ kind: 'session_moved', pool: 'write', session, from: 'pg-1', to, cause: 'switchover', ...times });
}

function close(session: number, reason: CloseReason, member?: string): void {
  const facts = { client: 'c', detail: undefined, durationMs: 1, toBackendBytes: 0, toClientBytes: 0 };
  lab.tell({ kind: 'session_closed', pool: 'write', session, reason, member, ...facts });
}

test('the operation ends when each parked session goes on or has ended, but for aborted transactions', async () => {
  lab.sessions = 5;
  lab.start();
  await lab.reach('drain');
  for (const session of [1, 2]) park(session);
  abort(3);
  close(4, 'client_closed', 'pg-1');
  lab.sessions = 0;
  await lab.reach('switch');
  lab.promote('pg-2');
  await lab.reach('release');
  expect(lab.isHolding()).toBe(false);
  move(1, 'pg-2');
  const { switch_ms: switchMs } = lab.document();
  await lab.clock.advance(10_000);
  expect(lab.document()).toMatchObject({ state: 'running', phase: 'release', outcome: null, why: null });
  expect(lab.document().switch_ms).toBe(switchMs);
  // It is told of the member that it was on. The client of 3 may say nothing for long.
  close(2, 'move_login', 'pg-1');
  await lab.clock.advance(0);
  expect(lab.document().state).toBe('ended');
  const { outcome, sessions } = await lab.end();
  expect(outcome).toBe('done');
  expect(sessions).toMatchObject({
    at_start: 5,
    parked: 3,
    aborted: 1,
    moved: 1,
    move_failed: 1,
    ended: 1,
    cut: 0,
    lost: 0,
  });
  expect(lab.events.at(-1)).toMatchObject({ kind: 'operation_ended', ended: 1, moved: 1 });
});

test('sessions that end after the drain are counted, too: those that were not asked in time', async () => {
  lab.sessions = 3;
  lab.start({ transactionMs: 2000 });
  await lab.reach('drain');
  park(1);
  lab.sessions = 2;
  await lab.reach('switch');
  expect(lab.document().sessions).toMatchObject({ at_start: 3, parked: 1, ended: 0 });
  lab.sessions = 0;
  lab.promote('pg-2');
  await lab.reach('release');
  move(1, 'pg-2');
  expect(await lab.end()).toMatchObject({ outcome: 'done', sessions: { moved: 1, ended: 2, cut: 0, lost: 0 } });
});

test('the switchover does not happen: the hold ends at once, and the sessions go on where they were', async () => {
  lab.sessions = 2;
  lab.start();
  await lab.reach('drain');
  for (const session of [1, 2]) park(session);
  lab.sessions = 0;
  await lab.reach('switch');
  lab.answer.give({ kind: 'precondition', status: 412, text: 'Not possible now.', reason: 'no' });
  await lab.clock.advance(0);
  expect(lab.isHolding()).toBe(false);
  lab.sessions = 2;
  for (const session of [1, 2]) move(session, 'pg-1');
  expect(await lab.end()).toMatchObject({ outcome: 'failed', sessions: { parked: 2, moved: 2, ended: 0, lost: 0 } });
});

test('a session that never goes on does not keep the operation for ever', async () => {
  lab.start();
  await lab.reach('switch');
  park(1);
  lab.promote('pg-2');
  await lab.reach('release');
  await lab.clock.advance(34_000);
  expect(lab.document().state).toBe('running');
  await lab.clock.advance(2_000);
  expect(lab.document()).toMatchObject({ state: 'ended', outcome: 'done', sessions: { parked: 1, moved: 0 } });
});

test('sessions that move for another reason are not counted', async () => {
  lab.sessions = 1;
  lab.start();
  await lab.reach('drain');
  lab.tell({ kind: 'session_parked', pool: 'ro', session: 7, member: 'pg-2', cause: 'lagging' });
  lab.tell({ kind: 'session_parked', pool: 'ro', session: 8, member: 'pg-1', cause: 'lagging' });
  move(7, 'pg-3');
  lab.sessions = 0;
  await lab.reach('switch');
  lab.promote('pg-2');
  expect(await lab.end()).toMatchObject({ sessions: { parked: 0, moved: 0, ended: 1 } });
});

test('the end of Pointsman does not wait for them', async () => {
  lab.start();
  await lab.reach('switch');
  park(1);
  lab.promote('pg-2');
  await lab.reach('release');
  await lab.operations.stop();
  expect(lab.document().state).toBe('ended');
});
