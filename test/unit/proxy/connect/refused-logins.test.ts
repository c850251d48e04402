// A refused login keeps others away from its member for a moment, counts as load for a while, and is shown.
import { beforeEach, expect, test } from 'vitest';
import { LoginRefusals } from '../../../../src/proxy/connect/login-refusals.ts';
import type { ProxyEvent } from '../../../../src/reports/events.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const CLIENT = { id: 7, pool: 'write' };
let clock: ManualClock;
let events: ProxyEvent[];
let hurried: string[];
let isClearing: boolean;
let refusals: LoginRefusals;

beforeEach(() => {
  [clock, events, hurried, isClearing] = [new ManualClock(), [], [], false];
  refusals = new LoginRefusals({
    clock,
    onEvent: (event) => void events.push(event),
    drains: { hurry: (member) => void hurried.push(member), isClearing: () => isClearing },
  });
});

test.each([
  ['full', '53300', 2_000],
  ['starting', '57P03', 1_000],
  ['of no word', undefined, 1_000],
])('a member that is %s is tried last for a moment', async (_, sqlState, ms) => {
  expect(refusals.isAvoided('pg-1')).toBe(false);
  refusals.note(CLIENT, 'pg-1', sqlState);
  expect([refusals.isAvoided('pg-1'), refusals.isAvoided('pg-2')]).toEqual([true, false]);
  const of = { pool: 'write', session: 7, member: 'pg-1' };
  expect(events).toEqual([{ kind: 'login_refused', ...of, sqlState, affectsOthers: true }]);
  await clock.advance(ms - 1);
  expect(refusals.isAvoided('pg-1')).toBe(true);
  await clock.advance(1);
  expect([refusals.isAvoided('pg-1'), refusals.isAvoided('pg-1')]).toEqual([false, false]);
});

test('a wrong password is that of one client', () => {
  refusals.note(CLIENT, 'pg-1', '28P01');
  expect(refusals.isAvoided('pg-1')).toBe(false);
  expect(events).toMatchObject([{ affectsOthers: false }]);
});

test('a refused login counts as a session, half of it after 5 s, in its pool alone', async () => {
  for (let count = 0; count < 8; count += 1) refusals.note(CLIENT, 'pg-1', '53300');
  expect(refusals.load('write', 'pg-1')).toBe(8);
  expect([refusals.load('write', 'pg-2'), refusals.load('read', 'pg-1')]).toEqual([0, 0]);
  await clock.advance(5_000);
  expect(refusals.load('write', 'pg-1')).toBe(4);
  refusals.note(CLIENT, 'pg-1', '53300');
  expect(refusals.load('write', 'pg-1')).toBe(5);
  await clock.advance(60_000);
  expect(refusals.load('write', 'pg-1')).toBe(0);
});

test('refusals without a gap of a minute are shown together, and for a minute', async () => {
  const since = clock.now();
  refusals.note(CLIENT, 'pg-1', '53300');
  await clock.advance(59_999);
  refusals.note(CLIENT, 'pg-1', '57P03');
  const shown = { since, at: clock.now(), count: 2, sqlState: '57P03' };
  expect([...refusals.shown('write')]).toEqual([['pg-1', shown]]);
  expect(refusals.shown('read').size).toBe(0);
  await clock.advance(59_999);
  expect(refusals.shown('write').size).toBe(1);
  await clock.advance(1);
  refusals.note(CLIENT, 'pg-1', '53300');
  expect(refusals.shown('write').get('pg-1')).toMatchObject({ since: clock.now(), count: 1 });
  await clock.advance(60_000);
  expect(refusals.shown('write').size).toBe(0);
});

test.each([
  ['sessions leave a full member: they are hurried', '53300', true, ['pg-1']],
  ['none leave it', '53300', false, []],
  ['it is not full', '57P03', true, []],
])('%s', async (_, sqlState, leave, expected) => {
  isClearing = leave;
  refusals.note(CLIENT, 'pg-1', sqlState);
  expect(hurried).toEqual([]);
  await clock.advance(0);
  expect(hurried).toEqual(expected);
  expect(refusals.isClearing('pg-1')).toBe(leave);
});
