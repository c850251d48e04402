// The time of a scheduled switchover is the members' time: their Date counts where it contradicts our clock.
import { expect, test } from 'vitest';
import type { MemberList } from '../../../src/model/observation.ts';
import { scheduledTime } from '../../../src/monitor/scheduled-time.ts';

/** Our wall clock shows this at the end of the read. Milliseconds since the epoch. */
const WALL = 1_800_000_000_500;
const READ = { now: 5_000, wallClock: WALL };
const LIST: MemberList = {
  kind: 'found',
  members: [],
  refused: [],
  by: 'pg-1',
  leader: { name: 'pg-1', state: 'running' },
  startedAt: 4_900,
};

function at(date: number | undefined): number | undefined {
  return scheduledTime({ ...LIST, scheduledSwitchoverAt: WALL + 20_000, date }, READ)?.at;
}

test.each([
  ['no Date', undefined],
  ['the same second', WALL - 500],
  ['the second before, which may have ended during the read', WALL - 1_050],
  ['the next second, which has begun', WALL],
])('our clock counts: %s', (_what, date) => {
  expect(at(date)).toBe(25_000);
});

test.each([
  // The clock of the member shows up to one second more than its Date: the earliest moment that is possible.
  ['ahead', WALL + 60_000, 25_000 - 60_000 - 100 - 1_000],
  ['behind', WALL - 60_000, 25_000 + 60_000 - 100 - 1_000],
])('the clock of the member is %s: its time counts, and clients wait rather too early', (_what, date, expected) => {
  expect(at(date)).toBe(expected);
});

test('without a leader or a schedule there is none', () => {
  expect(scheduledTime({ ...LIST, leader: undefined, scheduledSwitchoverAt: WALL }, READ)).toBeUndefined();
  expect(scheduledTime(LIST, READ)).toBeUndefined();
});
