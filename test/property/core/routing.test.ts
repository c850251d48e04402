// The properties of guarantees.md over random histories. Each title names its property.
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import { emptySnapshot, type MemberRecord, type Snapshot } from '../../../src/core/snapshot.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  isPrimary,
  MB,
  openIn,
  poolOf,
  READ_CHECK,
  refused,
  routeOf,
} from '../../support/values/builders.ts';
import { momentsOf, NAMES, renamed, shifted, snapshotAfter, worlds } from './histories.ts';
import { everyTable } from './tables.ts';
import { rounds } from '../../support/runner/ci.ts';

/** The decision of a table without its instant. */
function decisionOf(table: RoutingTable): unknown {
  return { pools: table.pools, complete: table.complete };
}

test('the decision is constant on [decidedAt, validUntil) and validUntil > decidedAt', () => {
  fc.assert(
    fc.property(worlds, fc.integer({ min: 0, max: 99 }), (world, percent) => {
      for (const { snapshot, now } of momentsOf(world)) {
        const table = decideRoutes(world.policy, snapshot, now);
        expect(table.decidedAt).toBe(now);
        expect(table.validUntil).toBeGreaterThan(now);
        const span = Math.min(table.validUntil - now, 1_000_000);
        for (const at of [now + Math.floor((span * percent) / 100), now + span - 1]) {
          const later = decideRoutes(world.policy, snapshot, at);
          expect(decisionOf(later)).toEqual(decisionOf(table));
          expect(later.validUntil).toBe(table.validUntil);
        }
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});

test('after the last validUntil no pool is open', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const snapshot = snapshotAfter(world);
      let table = decideRoutes(world.policy, snapshot, world.history.at(-1)?.now ?? 0);
      for (let steps = 0; table.validUntil !== Infinity; steps += 1) {
        expect(steps).toBeLessThan(50);
        table = decideRoutes(world.policy, snapshot, table.validUntil);
      }
      for (const pool of table.pools.values()) expect(pool.route.kind).not.toBe('open');
    }),
  );
});

/** Without the facts for which a replica's answer is compared with the primary's position that is known by then. */
function withoutComparisons(snapshot: Snapshot): Snapshot {
  const members = [...snapshot.members].map(([name, record]): [string, MemberRecord] => [
    name,
    { ...record, unreplayedSince: undefined, missing: undefined },
  ]);
  return { ...snapshot, members: new Map(members) };
}

function hasPosition(observation: Observation): boolean {
  if (observation.kind !== 'probe' || observation.outcome.kind !== 'answered') return false;
  return observation.outcome.body?.location !== undefined;
}

test('observations of different members at one instant commute', () => {
  fc.assert(
    fc.property(worlds, worlds, (world, other) => {
      // The first complete round is a moment: before it, the order of two answers decides when it comes.
      const before = { ...snapshotAfter(world), systemIdentifier: '77', complete: true };
      const at = 60_000;
      const news = other.history.flatMap(({ observation }) =>
        observation.kind === 'members' || observation.kind === 'leader' ? [] : [{ ...observation, startedAt: at }],
      );
      const [a] = news;
      const b = news.find(({ member }) => member !== a?.member);
      if (a === undefined || b === undefined) return;
      const one = observe(world.policy, observe(world.policy, before, a), b);
      const two = observe(world.policy, observe(world.policy, before, b), a);
      // With a new position of the primary, one of the orders compares the answer of a replica later.
      const isCompared = [a, b].some(hasPosition);
      expect(isCompared ? withoutComparisons(two) : two).toEqual(isCompared ? withoutComparisons(one) : one);
      expect(decideRoutes(world.policy, two, at + 50)).toEqual(decideRoutes(world.policy, one, at + 50));
    }),
  );
});

test('G5: more lag never makes a replica eligible', () => {
  const replayed = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 100 })), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(replayed, fc.boolean(), (ticks, doesApiNotice) => {
      const policy = aPolicy();
      const at = (more: (extra: number) => number) => {
        const history = ticks.flatMap(([megabytes, extra], index): readonly Observation[] => {
          const position = Math.max(0, megabytes - more(extra)) * MB;
          const status = doesApiNotice && more(extra) > 50 ? 503 : 200;
          const body = { role: 'replica', state: 'running', timeline: 1, replayed: position } as const;
          return [
            isPrimary('pg-1', index * 1000, { location: 200 * MB }),
            answered({ member: 'pg-2', check: READ_CHECK, at: index * 1000 + 10, status, body }),
          ];
        });
        const all = [aList(0, 'pg-1', 'pg-2'), ...history];
        const snapshot = all.reduce((known, observation) => observe(policy, known, observation), emptySnapshot('lab'));
        return openIn(decideRoutes(policy, snapshot, ticks.length * 1000), 'read');
      };
      const near = at(() => 0);
      const far = at((extra) => extra);
      if (far.includes('pg-2')) expect(near).toContain('pg-2');
    }),
    { numRuns: rounds(125, 500) },
  );
});

function dies(at: number): Observation {
  return refused({ member: 'pg-9', at });
}

test('a dead extra member changes nothing', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const extra = aMember('pg-9');
      const known = world.history.map(({ observation }) =>
        observation.kind === 'members' ? { ...observation, members: [...observation.members, extra] } : observation,
      );
      const snapshotOf = (observations: readonly Observation[]) =>
        observations.reduce(
          (snapshot, observation) => observe(world.policy, snapshot, observation),
          emptySnapshot('lab'),
        );
      const now = (world.history.at(-1)?.now ?? 0) + 200;
      const without = snapshotAfter(world);
      const [list, ...rest] = known;
      if (list === undefined) return;
      const withIt = snapshotOf([
        list,
        dies(0),
        ...rest.flatMap((observation) => [observation, dies(observation.startedAt)]),
      ]);
      const table = decideRoutes(world.policy, withIt, now);
      const expected = decideRoutes(world.policy, without, now);
      expect(table.complete).toBe(expected.complete);
      for (const { name } of world.policy.pools) {
        expect(routeOf(table, name)).toEqual(routeOf(expected, name));
        const others = [...poolOf(table, name).standings].filter(([member]) => member !== 'pg-9');
        expect(new Map(others)).toEqual(poolOf(expected, name).standings);
      }
    }),
  );
});

test('renaming members commutes', () => {
  fc.assert(
    fc.property(worlds, fc.shuffledSubarray([...NAMES], { minLength: 4, maxLength: 4 }), (world, order) => {
      const rename = (name: string) => `db-${order.findIndex((known) => known === name)}`;
      const now = (world.history.at(-1)?.now ?? 0) + 100;
      const history = world.history.map((event) => ({ ...event, observation: renamed(event.observation, rename) }));
      const table = decideRoutes(world.policy, snapshotAfter({ ...world, history }), now);
      const plain = decideRoutes(world.policy, snapshotAfter(world), now);
      for (const { name } of world.policy.pools) {
        expect(openIn(table, name)).toEqual(openIn(plain, name).map((member) => rename(member)));
        const kinds = (of: RoutingTable) =>
          [...poolOf(of, name).standings].map(([member, { kind, why }]) => [member, kind, why.code]);
        expect(kinds(table)).toEqual(kinds(plain).map(([member = '', ...rest]) => [rename(member), ...rest]));
      }
    }),
  );
});

test('wall-clock jumps change nothing: the origin of instants does not matter', () => {
  fc.assert(
    fc.property(worlds, fc.integer({ min: -1_000_000, max: 1_000_000 }), (world, byMs) => {
      const moved = world.history.map(({ now, observation }) => ({
        now: now + byMs,
        observation: shifted(observation, byMs),
      }));
      const there = momentsOf({ ...world, history: moved });
      for (const [index, { snapshot, now }] of momentsOf(world).entries()) {
        const here = decideRoutes(world.policy, snapshot, now);
        const other = there[index];
        if (other === undefined) throw new Error('the shifted history has fewer moments');
        const table = decideRoutes(world.policy, other.snapshot, other.now);
        const told = (of: RoutingTable, isLaterByMs: number): unknown => ({
          validUntil: of.validUntil - isLaterByMs,
          pools: world.policy.pools.map(({ name }) => [
            routeOf(of, name),
            [...poolOf(of, name).standings.values()].map(({ kind, why }) => [kind, why.code]),
          ]),
        });
        const [later, earlier] = [told(table, byMs), told(here, 0)];
        if (!isDeepStrictEqual(later, earlier)) expect(later).toEqual(earlier);
      }
    }),
  );
});

test('the same history gives the same table, and no observation changes a snapshot that was taken', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const before = snapshotAfter(world);
      const copy = structuredClone(before);
      for (const { observation } of world.history) observe(world.policy, before, shifted(observation, 100_000));
      expect(before).toEqual(copy);
      expect(decideRoutes(world.policy, snapshotAfter(world), 50_000)).toEqual(
        decideRoutes(world.policy, before, 50_000),
      );
    }),
  );
});

test('a probe that is older than the newest applied one is discarded', () => {
  fc.assert(
    fc.property(worlds, worlds, (world, other) => {
      const snapshot = snapshotAfter(world);
      for (const { observation } of other.history) {
        if (observation.kind !== 'probe') continue;
        const record = snapshot.members.get(observation.member);
        if (record?.probedAt === undefined) continue;
        expect(observe(world.policy, snapshot, { ...observation, startedAt: record.probedAt - 1 })).toEqual(snapshot);
      }
    }),
  );
});

test('routes and standings agree: a member with new sessions is open, and an open member has an address', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table) => {
        for (const { route, standings, addresses } of table.pools.values()) {
          if (route.kind !== 'open') continue;
          const faults = route.targets.filter(
            ({ member, address }) =>
              !isDeepStrictEqual(addresses.get(member), address) ||
              (route.fallback === undefined && standings.get(member)?.kind !== 'open'),
          );
          if (faults.length > 0) expect(faults).toEqual([]);
        }
      });
    }),
  );
});

test('pools of a policy do not depend on the order of the policy', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const backwards = { ...world.policy, pools: world.policy.pools.toReversed() };
      const snapshot = snapshotAfter(world);
      const now = (world.history.at(-1)?.now ?? 0) + 100;
      const table = decideRoutes(world.policy, snapshot, now);
      const other = decideRoutes(backwards, snapshot, now);
      expect(other.pools).toEqual(table.pools);
    }),
  );
});
