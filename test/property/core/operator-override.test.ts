// The operator's overrides over random histories: they only ever take members away.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOver, planActions } from '../../../src/core/actions.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import type { Handover } from '../../../src/core/snapshot.ts';
import { openIn } from '../../support/values/builders.ts';
import { momentsOf, NAMES, worlds } from './histories.ts';
import { rounds } from '../../support/runner/ci.ts';

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
    { numRuns: rounds(25, 100) },
  );
});

const handovers: fc.Arbitrary<Handover> = fc.record({
  operation: fc.constantFrom('switchover', 'restart'),
  member: fc.constantFrom(...NAMES),
  phase: fc.constantFrom('hold', 'drain'),
  since: fc.integer({ min: 0, max: 20_000 }),
  mostMs: fc.integer({ min: 1, max: 30_000 }),
  transactionMs: fc.constant(1000),
});

test('G22: a handover never adds an eligible member, and without effect it leaves the table as it is', () => {
  fc.assert(
    fc.property(worlds, handovers, (world, handover) => {
      for (const { snapshot, now } of momentsOf(world)) {
        const [before, after] = [snapshot, { ...snapshot, handover }].map((known) =>
          decideRoutes(world.policy, known, now),
        );
        if (before === undefined || after === undefined) throw new Error('two tables were decided');
        const isOn = now < handover.since + handover.mostMs;
        for (const [pool, { route }] of after.pools) {
          const own = openIn(before, pool);
          // A pool whose fallback is held is held too, so it may have fewer members, never others. A shared pool that
          // loses its last member may use its fallback, or the least lagging of the others, as with a drain.
          const isInstead = route.kind === 'open' && (route.lagging ?? route.fallback) !== undefined;
          if (!isInstead) expect(own).toEqual(expect.arrayContaining([...openIn(after, pool)]));
          if (isOn) expect(openIn(after, pool)).not.toContain(handover.member);
        }
        expect(openIn(after, 'write')).toEqual(
          openIn(before, 'write').filter((name) => !isOn || name !== handover.member),
        );
        if (!isOn) expect(after).toEqual(before);
        const last = decideRoutes(world.policy, { ...snapshot, handover }, Math.min(after.validUntil - 1, now + 1e6));
        expect({ ...last, decidedAt: now }).toEqual(after);
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});

test('G22: each session that a handover ends goes on or is planned anew when the handover is taken back', () => {
  fc.assert(
    fc.property(worlds, handovers, (world, handover) => {
      for (const { snapshot, now } of momentsOf(world)) {
        const before = decideRoutes(world.policy, snapshot, now);
        const during = decideRoutes(world.policy, { ...snapshot, handover }, now);
        const ended = planActions(world.policy, before, during);
        if (handover.phase === 'hold') expect(ended).toEqual([]);
        for (const { member, cause } of ended) expect([member, cause]).toEqual([handover.member, handover.operation]);
        for (const action of ended) expect(isOver(action, before)).toBe(true);
        const anew = planActions(world.policy, during, before);
        for (const { pool, member } of ended) {
          const isOut = before.pools.get(pool)?.standings.get(member)?.kind === 'leave';
          const planned = anew.filter((action) => action.pool === pool && action.member === member);
          expect(planned.length).toBe(isOut ? 1 : 0);
        }
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});
