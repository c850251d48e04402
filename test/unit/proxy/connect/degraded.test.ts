// Scenario 24: the start of a fallback.
import { expect, test } from 'vitest';
import { DegradedPools } from '../../../../src/proxy/connect/degraded.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';

const A = { host: 'a', port: 5432 };
const OWN: PoolPicture = { open: { A } };
const LENT: PoolPicture = { open: { A }, fallback: { pool: 'write', maxSessions: 1 } };
const LATE: PoolPicture = { open: { A }, lagging: { maxSessions: 1 } };

test.each([LENT, LATE])('from the first table with the fallback to the first without: %j', async (picture) => {
  const clock = new ManualClock(1000);
  const degraded = new DegradedPools(clock);
  const decide = (read: PoolPicture): void => degraded.tableChanged(aTableOf({ read }));
  decide(OWN);
  expect(degraded.since('read')).toBeUndefined();
  decide(picture);
  await clock.advance(500);
  decide(picture);
  expect(degraded.since('read')).toBe(1000);
  decide(OWN);
  expect(degraded.since('read')).toBeUndefined();
  decide(picture);
  expect(degraded.since('read')).toBe(1500);
  decide({ otherwise: 'closed' });
  expect(degraded.since('read')).toBeUndefined();
});

test('a removed pool is forgotten', () => {
  const degraded = new DegradedPools(new ManualClock());
  degraded.tableChanged(aTableOf({ read: LENT }));
  degraded.tableChanged(aTableOf({}));
  expect(degraded.since('read')).toBeUndefined();
});
