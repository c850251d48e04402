// When late reads are told of.
import { expect, test } from 'vitest';
import { LateEpisodes } from '../../../../src/proxy/reads/late-episodes.ts';
import type { ReadEvent } from '../../../../src/reports/read-events.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

function lab(): { clock: ManualClock; late: LateEpisodes; told: () => readonly ReadEvent[] } {
  const clock = new ManualClock();
  let events: ReadEvent[] = [];
  const late = new LateEpisodes({
    pool: 'read',
    scope: () => 'proxy',
    clock,
    onEvent: (event) => void events.push(event),
  });
  const told = (): readonly ReadEvent[] => {
    const all = events;
    events = [];
    return all;
  };
  return { clock, late, told };
}

const on = { pool: 'read', member: 'pg-3' } as const;
const lateRead = { kind: 'reads_late', ...on, readsScope: 'proxy' } as const;

test('the first is told at once, more once in a second, and the end after 10 s without any', async () => {
  const { clock, late, told } = lab();
  late.note('pg-3', 'moved', 'one');
  expect(told()).toEqual([{ ...lateRead, result: 'moved', count: 1, isFirst: true, why: 'one' }]);
  for (let round = 0; round < 3; round += 1) late.note('pg-3', 'moved', 'two');
  late.note('pg-3', 'error', 'three');
  expect(told()).toEqual([]);
  await clock.advance(1_000);
  expect(told()).toEqual([
    { ...lateRead, result: 'moved', count: 3, why: 'three' },
    { ...lateRead, result: 'error', count: 1, why: 'three' },
  ]);
  await clock.advance(4_000);
  late.note('pg-3', 'stale', 'four');
  await clock.advance(9_999);
  expect(told()).toEqual([{ ...lateRead, result: 'stale', count: 1, why: 'four' }]);
  await clock.advance(1);
  expect(told()).toEqual([{ kind: 'reads_in_time', ...on, count: 6, durationMs: 5_000 }]);
  late.note('pg-3', 'moved', 'again');
  expect(told()).toMatchObject([{ isFirst: true }]);
});

test('members are told of one by one, and the rest at the stop', async () => {
  const { clock, late, told } = lab();
  for (const member of ['pg-2', 'pg-3', 'pg-3']) late.note(member, 'error', 'why');
  expect(told()).toMatchObject([
    { member: 'pg-2', isFirst: true },
    { member: 'pg-3', isFirst: true },
  ]);
  late.stop();
  expect(told()).toMatchObject([{ member: 'pg-3', count: 1 }]);
  await clock.advance(60_000);
  expect(told()).toEqual([]);
});
