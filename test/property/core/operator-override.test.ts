// Draining over random histories: it only ever takes away.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import { openIn } from '../../support/values/builders.ts';
import { momentsOf, NAMES, worlds } from './histories.ts';

test('a drained member is open in no pool, and draining puts nobody else into an exclusive one', () => {
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
        // It may hold for longer: what would be asked of who is open is not asked of nobody.
        expect(after.validUntil).toBeGreaterThanOrEqual(before.validUntil);
        const last = decideRoutes(world.policy, drained, Math.min(after.validUntil - 1, now + 1_000_000));
        expect({ ...last, decidedAt: now }).toEqual(after);
      }
    }),
  );
});
