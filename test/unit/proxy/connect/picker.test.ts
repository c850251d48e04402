// Scenario 26, slow start: the members with it, and its duration.
import { expect, test } from 'vitest';
import { SlowStart } from '../../../../src/proxy/connect/picker.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';

const POOL = { name: 'read', slowStartMs: 10_000 };
const A = { host: 'a', port: 5432 };
const B = { host: 'b', port: 5432 };

function lab() {
  const clock = new ManualClock();
  const slowStart = new SlowStart(clock);
  return {
    clock,
    decide: (read: PoolPicture | undefined) => slowStart.tableChanged(aTableOf(read === undefined ? {} : { read })),
    share: (member: string) => slowStart.share(POOL, { member }),
    ramping: () => slowStart.ramping(POOL),
  };
}

test('a member that opens with the first complete round has its whole share at once', async () => {
  const { clock, decide, share } = lab();
  decide({ otherwise: 'starting' });
  await clock.advance(700);
  decide({ open: { a: A, b: B } });
  expect([share('a'), share('b')]).toEqual([1, 1]);
});

test('a member that opens later has a slow start, and keeps its instant in later tables', async () => {
  const { clock, decide, share, ramping } = lab();
  decide({ open: { a: A } });
  decide({ open: { a: A, b: B } });
  expect([share('a'), share('b')]).toEqual([1, 0.01]);
  await clock.advance(2_500);
  decide({ open: { a: A, b: B } });
  expect(share('b')).toBe(0.25);
  expect([...ramping()]).toEqual([['b', 0.25]]);
  await clock.advance(7_500);
  expect(share('b')).toBe(1);
  expect([...ramping()]).toEqual([]);
});

test('a member that left, or moved to another address, starts anew', async () => {
  const { clock, decide, share } = lab();
  decide({ open: { a: A, b: B } });
  decide({ open: { a: A } });
  await clock.advance(60_000);
  decide({ open: { a: A, b: B } });
  expect(share('b')).toBe(0.01);
  await clock.advance(60_000);
  decide({ open: { a: A, b: { host: 'elsewhere', port: 1 } } });
  expect(share('b')).toBe(0.01);
});

test('a pool that a reload adds starts with every member of its first round', async () => {
  const { clock, decide, share } = lab();
  decide(undefined);
  await clock.advance(60_000);
  const unasked = { kind: 'keep', why: { code: 'never_answered' } } as const;
  decide({ open: { a: A }, others: { b: { address: B, standing: unasked } } });
  await clock.advance(10);
  decide({ open: { a: A, b: B } });
  expect([share('a'), share('b')]).toEqual([1, 1]);
});
