import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { emptySnapshot, withDrained, withMembers } from '../../../src/core/snapshot.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { deltaBetween, withDelta } from '../../../src/workers/snapshot-delta.ts';
import { comebacks } from '../core/comebacks.ts';
import { momentsOf, worlds } from '../core/histories.ts';
import { rounds } from '../../support/runner/ci.ts';

/** Only `observe` reads the trail, in the main process. */
function withoutTrail(snapshot: Snapshot): Snapshot {
  return { ...snapshot, trail: undefined };
}

test('a receiver of the deltas has the same snapshot in the same order, and decides the same', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: worlds }, { weight: 1, arbitrary: comebacks }), (world) => {
      let sent: Snapshot = emptySnapshot('lab');
      let known: Snapshot = sent;
      for (const { snapshot, now } of momentsOf(world)) {
        known = withDelta(known, structuredClone(deltaBetween(sent, snapshot)));
        sent = snapshot;
        expect(known).toEqual(withoutTrail(snapshot));
        expect([...known.members.keys()]).toEqual([...snapshot.members.keys()]);
        expect(decideRoutes(world.policy, known, now)).toEqual(decideRoutes(world.policy, snapshot, now));
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});

test('members that leave and the operator overrides are part of the deltas', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const last = momentsOf(world).at(-1)?.snapshot ?? emptySnapshot('lab');
      const [first = 'nobody'] = last.members.keys();
      const refusing = { ...last, refused: [{ name: 'pg-9', reason: 'address' as const, why: 'x' }] };
      for (const next of [
        withMembers(last, { named: new Set([first]), isGraceOver: true }),
        withDrained(last, first, 5),
        emptySnapshot('lab'),
        refusing,
        { ...last, timelineEnds: { timeline: 2, primary: 'pg-1', ends: new Map([[1, 100]]) } },
      ]) {
        expect(withDelta(last, deltaBetween(last, next))).toEqual(withoutTrail(next));
        expect(withDelta(next, deltaBetween(next, last))).toEqual(withoutTrail(last));
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});

test('an unchanged record is not sent', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const last = momentsOf(world).at(-1)?.snapshot ?? emptySnapshot('lab');
      const delta = deltaBetween(last, withDrained(last, 'pg-1', 5));
      expect([delta.records.size, delta.names, 'refused' in delta]).toEqual([0, undefined, false]);
    }),
  );
});
