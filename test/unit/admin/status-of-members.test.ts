import { expect, test } from 'vitest';
import { memberFacts } from '../../../src/admin/status-of-members.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { aList, aPolicy, aSnapshot, isPrimary } from '../../support/values/builders.ts';

test('members come by name, whatever order their list has', () => {
  const policy = aPolicy();
  const snapshot = aSnapshot(policy, aList(0, 'pg-10', 'pg-2', 'pg-1'), isPrimary('pg-10', 100));
  const table = decideRoutes(policy, snapshot, 200);
  const facts = memberFacts({ snapshot, table, pools: policy.pools, zone: undefined, now: 200 });
  expect(facts.map(({ name }) => name)).toEqual(['pg-1', 'pg-2', 'pg-10']);
});
