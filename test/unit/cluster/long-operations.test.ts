// Operations that take a while: one at a time, told as events, and kept for later questions.
import { beforeEach, expect, test } from 'vitest';
import type { Preflight } from '../../../src/reports/preflight.ts';
import { aReport, SwitchoverLab } from '../../support/labs/switchover-lab.ts';

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

test('the plan has the sessions, and warns when not all of their clients can wait', async () => {
  lab.sessions = 5;
  const request = { to: undefined, transactionMs: 1000 };
  expect(await lab.operations.plan(request)).toMatchObject({
    from: 'pg-1',
    sessions_on_primary: 5,
    unreadable_sessions_on_primary: 2,
    moves: null,
    stays_text: null,
    warnings: [],
  });
  lab.hold = { ...lab.hold, maxSessions: 4 };
  const { warnings } = await lab.operations.plan(request);
  expect(warnings).toEqual(['5 sessions will end, and 4 clients may wait (hold.max_sessions)']);
  lab.stepDown();
  await lab.clock.advance(100);
  expect(await lab.operations.plan(request)).toMatchObject({ from: null, sessions_on_primary: null });
  expect([lab.handovers, lab.events]).toEqual([[], []]);
});

test('the plan has the sessions that move: their clients need no place to wait', async () => {
  lab.sessions = 10;
  lab.preflight = { movable: 7, stays: { listening: 2 }, unknown: 1 };
  lab.hold = { ...lab.hold, maxSessions: 2 };
  const { moves, warnings, ...plan } = await lab.operations.plan({ to: undefined, transactionMs: 1000 });
  expect(moves).toEqual({ movable: 7, stays: { listening: 2 }, unknown: 1 });
  expect(plan.stays_text).toBe('2 listen');
  expect(warnings).toEqual(['3 sessions will end, and 2 clients may wait (hold.max_sessions)']);
});

test('the plan warns of sessions that cannot log in again, which is asked as often as a preflight', async () => {
  const request = { to: undefined, transactionMs: 1000 };
  lab.sessions = 7;
  lab.preflight = { movable: 7, stays: {}, unknown: 0 };
  lab.verifierFaults = ['verifiers cannot be read'];
  expect(await lab.operations.plan(request)).toMatchObject({ warnings: ['verifiers cannot be read'], problems: [] });
  lab.verifierFaults = [];
  await lab.clock.advance(4_000);
  expect(await lab.operations.plan(request)).toMatchObject({ warnings: ['verifiers cannot be read'] });
  await lab.clock.advance(1_000);
  expect(await lab.operations.plan(request)).toMatchObject({ warnings: [] });
});

test('plans within a few seconds share one preflight', async () => {
  const request = { to: undefined, transactionMs: 1000 };
  lab.sessions = 7;
  lab.preflight = { movable: 7, stays: {}, unknown: 0 };
  await Promise.all([lab.operations.plan(request), lab.operations.plan({ ...request, to: 'pg-2' })]);
  lab.preflight = { movable: 8, stays: {}, unknown: 0 };
  await lab.clock.advance(4_000);
  expect(await lab.operations.plan(request)).toMatchObject({ moves: { movable: 7 } });
  await lab.clock.advance(1_000);
  expect(await lab.operations.plan(request)).toMatchObject({ moves: { movable: 8 } });
  expect(lab.events, 'one event for each preflight').toMatchObject([
    { kind: 'preflight_finished', member: 'pg-1', movable: 7, stays: {}, unknown: 0 },
    { kind: 'preflight_finished', movable: 8 },
  ]);
});

test('a preflight is of one member, and counts the sessions that did not answer', async () => {
  const request = { to: undefined, transactionMs: 1000 };
  lab.sessions = 10;
  lab.preflight = { movable: 5, stays: {}, unknown: 5 };
  await lab.operations.plan(request);
  await lab.clock.advance(4_000);
  await lab.operations.plan(request);
  expect(lab.preflights).toEqual(['pg-1']);
  lab.report = () => Promise.resolve({ kind: 'read', value: aReport({ leader: 'pg-2' }) });
  lab.promote('pg-2');
  await lab.clock.advance(200);
  await lab.operations.plan(request);
  expect(lab.preflights).toEqual(['pg-1', 'pg-2']);
});

test('a preflight that takes long is not begun again meanwhile', async () => {
  const request = { to: undefined, transactionMs: 1000 };
  lab.sessions = 10;
  const slow = Promise.withResolvers<Preflight>();
  lab.preflight = slow.promise;
  const plans = [lab.operations.plan(request)];
  await lab.clock.advance(2_000);
  plans.push(lab.operations.plan(request));
  await lab.clock.advance(0);
  slow.resolve({ movable: 10, stays: {}, unknown: 0 });
  await Promise.all(plans);
  expect(lab.preflights).toEqual(['pg-1']);
});

test('a plan counts anew when there are other sessions than at the last preflight', async () => {
  const request = { to: undefined, transactionMs: 1000 };
  lab.sessions = 0;
  lab.preflight = { movable: 0, stays: {}, unknown: 0 };
  await lab.operations.plan(request);
  lab.sessions = 6;
  lab.preflight = { movable: 5, stays: { listening: 1 }, unknown: 0 };
  expect(await lab.operations.plan(request), 'at most once a second').toMatchObject({ moves: { movable: 0 } });
  await lab.clock.advance(1_000);
  expect(await lab.operations.plan(request)).toMatchObject({ sessions_on_primary: 6, moves: { movable: 5 } });
});

test('plans that are asked for at the same time share one reading of the cluster', async () => {
  const reading = Promise.withResolvers<Awaited<ReturnType<typeof lab.report>>>();
  let readings = 0;
  const { report } = lab;
  lab.report = () => {
    readings += 1;
    return reading.promise;
  };
  const request = { to: undefined, transactionMs: 1000 };
  const plans = [lab.operations.plan(request), lab.operations.plan({ ...request, to: 'pg-2' })];
  reading.resolve(await report());
  expect((await Promise.all(plans)).map(({ to }) => to)).toEqual([null, 'pg-2']);
  expect(readings).toBe(1);
  await lab.operations.plan(request);
  expect(readings).toBe(2);
});

test('run one at a time', async () => {
  lab.isBusy = true;
  expect(lab.operations.start({ to: undefined, transactionMs: 0 })).toEqual({ kind: 'busy' });
  lab.isBusy = false;
  const id = lab.start();
  const busy = lab.operations.start({ to: undefined, transactionMs: 0 });
  expect(busy).toMatchObject({ kind: 'busy', operation: { id, state: 'running', outcome: null } });
  await lab.reach('switch');
  lab.promote('pg-2');
  await lab.end();
  expect(lab.start()).not.toBe(id);
});

test('the last twenty are kept', async () => {
  lab.report = () => Promise.reject(new Error('no answer'));
  const ids: string[] = [];
  for (let count = 0; count < 21; count += 1) {
    ids.push(lab.start());
    await lab.end();
  }
  expect(lab.operations.list().map(({ id }) => id)).toEqual(ids.slice(1).toReversed());
  expect(lab.operations.find(ids[0] ?? '')).toBeUndefined();
});

test('are told as events', async () => {
  lab.start();
  await lab.reach('switch');
  lab.promote('pg-2');
  await lab.end();
  expect(lab.events.map((event) => (event.kind === 'operation_phase' ? event.phase : event.kind))).toEqual([
    'operation_started',
    'check',
    'hold',
    'drain',
    'switch',
    'confirm',
    'release',
    'operation_ended',
  ]);
  expect(lab.events.at(-1)).toMatchObject({ outcome: 'done', phase: 'confirm', from: 'pg-1', primary: 'pg-2' });
});

test('an unknown id', () => {
  expect(lab.operations.find('x')).toBeUndefined();
  expect(lab.operations.cancel('x', 'the operator')).toEqual({ kind: 'unknown' });
});
