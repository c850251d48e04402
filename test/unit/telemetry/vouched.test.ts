// The exposition of a member in use whose own API is silent.
import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { aList, aPolicy, isPrimary, isReplica, silent, vouched } from '../../support/values/builders.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aStatusSource, decidedAt } from '../../support/values/status-source.ts';

const UNHEARD = [
  aList(0, 'pg-1', 'pg-2'),
  isPrimary('pg-1', 1000),
  isReplica('pg-2', 1500),
  silent({ at: 7000, postgres: 'accepts' }),
];
const VOUCHED = [...UNHEARD, vouched('pg-1', 'pg-2', 7500)];

test.each([
  ['that is vouched for has its gauge', VOUCHED, 1],
  ['without a vouch is not in use at all', UNHEARD, 0],
])('scenario 8: a member %s', async (_, history, value) => {
  const source = aStatusSource(decidedAt(aPolicy(), 8000, ...history));
  const text = await createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write', 'read'], ...source }).text();
  expect(
    withoutScope(text)
      .split('\n')
      .filter((line) => line.startsWith('pointsman_member_vouched')),
  ).toEqual([`pointsman_member_vouched{member="pg-1"} ${value}`, 'pointsman_member_vouched{member="pg-2"} 0']);
});
