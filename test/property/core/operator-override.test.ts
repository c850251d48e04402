// Operator drains over random histories: a drain only ever takes members away.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import { openIn } from '../../support/values/builders.ts';
import { momentsOf, NAMES, worlds } from './histories.ts';

test('a drained member is open in no pool, and its drain opens no other member in an exclusive pool', () => {
  fc.assert(
    fc.property(worlds, fc.subarray([...NAMES], { minLength: 1 }), (world, members) => {
      for (const { snapshot, now } of momentsOf(world)) {
        const drained = members.reduce((known, name) => withDrained(known, name, 0), snapshot);
        const [before, after] = [decideRoutes(world.policy, snapshot, now), decideRoutes(world.policy, drained, now)];
        for (const pool of after.pools.keys()) {
          expect(
            openIn(after, pool).filter((name) => NAMES.some((one) => one === name && members.includes(one))),
          ).toEqual([]);
        }
        const writers = openIn(before, 'write').filter((name) => !members.some((one) => one === name));
        expect(openIn(after, 'write')).toEqual(writers);
        // The decision may hold for longer: without an open member there is no eviction to wait for.
        expect(after.validUntil).toBeGreaterThanOrEqual(before.validUntil);
        const last = decideRoutes(world.policy, drained, Math.min(after.validUntil - 1, now + 1_000_000));
        expect({ ...last, decidedAt: now }).toEqual(after);
      }
    }),
  );
});
