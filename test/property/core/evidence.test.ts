// The properties of guarantees.md about evidence, over random histories.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  answered,
  aPool,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  poolOf,
  READ_CHECK,
  refused,
  routeOf,
} from '../../support/values/builders.ts';
import { NAMES, snapshotAfter, worlds } from './histories.ts';
import type { Told } from './oracle.ts';
import { everyTable } from './tables.ts';
import { aboutWriting } from './words.ts';

/** If a member has reported its identity before, an answer without identity is no evidence. */
const US = { scope: 'lab' };

type Facts = Told['members'][number]['facts'];

function factsOf(told: Told, name: string): Facts {
  return told.members.find((member) => member.name === name)?.facts ?? [];
}

/** The answers of the member about its being the primary. */
function saidOf(told: Told, name: string, wanted: string): Facts {
  return factsOf(told, name).filter(
    ({ kind, probe }) => kind === 'answer' && probe !== undefined && aboutWriting(probe) === wanted,
  );
}

function lastAt(facts: Facts): number {
  return Math.max(...facts.map(({ at }) => at));
}

/** Each of them must hold for every table. One walk judges all, because the tables of a history are dear. */
const LAWS: Readonly<Record<string, (table: RoutingTable, told: Told, now: number) => boolean>> = {
  'G1: an exclusive pool has at most one member'(table) {
    const standings = [...poolOf(table, 'write').standings.values()];
    return openIn(table, 'write').length <= 1 && standings.filter(({ kind }) => kind === 'open').length <= 1;
  },
  'the primary is never on a timeline below the highest seen'(table, told) {
    return openIn(table, 'write').every((name) => {
      const outcome = saidOf(told, name, 'yes').at(-1)?.probe?.outcome;
      const timeline = outcome?.kind === 'answered' ? outcome.body?.timeline : undefined;
      return timeline === undefined || timeline >= (told.top ?? 0);
    });
  },
  'G2: the primary never has stale evidence: its yes or vouch began within the last 5 s'(table, told, now) {
    return openIn(table, 'write').every((name) => {
      const vouches = factsOf(told, name).filter(({ kind }) => kind === 'vouch');
      return lastAt([...saidOf(told, name, 'yes'), ...vouches]) > now - 5000;
    });
  },
  'G5: read evidence is younger than 10 s, except in a fallback'(table, told, now) {
    const route = routeOf(table, 'read');
    if (route.kind !== 'open' || route.fallback !== undefined) return true;
    return route.targets.every(({ member }) => {
      const answers = factsOf(told, member).filter(
        ({ kind, probe }) => kind === 'answer' && probe?.check === READ_CHECK,
      );
      return lastAt(answers) > now - 10_000;
    });
  },
  'a member that answered no at t comes back only by a probe that started after t'(table, told) {
    return openIn(table, 'write').every((name) => {
      const noes = [
        ...saidOf(told, name, 'no').filter(({ probe }) => probe?.check === '/primary'),
        ...factsOf(told, name).filter(({ kind }) => kind === 'dead'),
      ];
      return lastAt(saidOf(told, name, 'yes')) > lastAt(noes);
    });
  },
  'a dead member is in no pool until it answers again'(table, told) {
    return [...table.pools.keys()].every((pool) =>
      openIn(table, pool).every((name) => {
        const facts = factsOf(told, name);
        const diedAt = facts.findLast(({ kind }) => kind === 'dead')?.at ?? -Infinity;
        return (facts.findLast(({ kind }) => kind === 'answer')?.at ?? -Infinity) > diedAt;
      }),
    );
  },
  'G13: no session is routed before the first complete round'(table, told) {
    const isAnyOpen = [...table.pools.values()].some(({ route }) => route.kind === 'open');
    return table.complete === told.complete && (told.complete || !isAnyOpen);
  },
  'the member of the exclusive pool is in no other pool, except as a fallback'(table) {
    const [writer] = openIn(table, 'write');
    return ['read', 'zone'].every((name) => {
      const route = routeOf(table, name);
      const isBorrowed = route.kind === 'open' && route.fallback !== undefined;
      return writer === undefined || isBorrowed || !openIn(table, name).includes(writer);
    });
  },
};

test('G1, G2, G5, G13: every table keeps the laws of evidence', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const broken = new Set<string>();
      everyTable(world, (table, told, now) => {
        for (const [law, holds] of Object.entries(LAWS)) if (!holds(table, told, now)) broken.add(law);
      });
      expect([...broken]).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('G3: a no evicts the member synchronously, whatever else is known', () => {
  fc.assert(
    fc.property(
      worlds,
      fc.constantFrom<(at: number) => Observation>(
        (at) => answered({ at, status: 503, body: US }),
        (at) => isReplica('pg-1', at, US),
        (at) => refused({ at }),
      ),
      (world, no) => {
        const at = (world.history.at(-1)?.now ?? 0) + 1;
        const before = observe(world.policy, snapshotAfter(world), isPrimary('pg-1', at, { ...US, timeline: 9 }));
        const table = decideRoutes(world.policy, observe(world.policy, before, no(at + 10)), at + 10);
        expect(openIn(table, 'write')).not.toContain('pg-1');
        const standing = poolOf(table, 'write').standings.get('pg-1');
        if (standing !== undefined) expect(standing.kind).toBe('leave');
      },
    ),
  );
});

test('G3: a stopping primary that answers no gets no new sessions; PostgreSQL ends old ones, until the grace', () => {
  const states = fc.constantFrom('stopping', 'stopped', 'starting', 'crashed');
  fc.assert(
    fc.property(worlds, states, fc.integer({ min: 1, max: 40_000 }), (world, state, laterMs) => {
      const at = (world.history.at(-1)?.now ?? 0) + 1;
      const policy = { ...world.policy, pools: [aWritePool(), aPool()] };
      const yes = observe(policy, snapshotAfter(world), isPrimary('pg-1', at, { ...US, timeline: 9 }));
      const no = answered({ at: at + laterMs, status: 503, body: { ...US, role: 'primary', state } });
      const stops = observe(policy, yes, no);
      const table = decideRoutes(policy, stops, at + laterMs);
      expect(openIn(table, 'write')).not.toContain('pg-1');
      const standing = poolOf(table, 'write').standings.get('pg-1');
      const isWithin = laterMs < policy.probe.silenceGraceMs;
      if (standing?.kind === 'keep') expect([isWithin, openIn(table, 'write')]).toEqual([true, []]);
      const proven = observe(policy, stops, isPrimary('pg-2', at + laterMs, { ...US, timeline: 10 }));
      const after = poolOf(decideRoutes(policy, proven, at + laterMs), 'write').standings;
      if (stops.members.has('pg-2') && standing !== undefined) expect(after.get('pg-1')?.kind).toBe('leave');
    }),
  );
});

test('G4: a proven primary on a higher timeline evicts every other one at once', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const at = (world.history.at(-1)?.now ?? 0) + 1;
      const policy = { ...world.policy, pools: [aWritePool(), aPool()] };
      const list = { ...aList(at, ...NAMES) };
      const before = [list, isPrimary('pg-2', at, { ...US, timeline: 9 })].reduce<ReturnType<typeof snapshotAfter>>(
        (snapshot, observation) => observe(policy, snapshot, observation),
        snapshotAfter(world),
      );
      const { standings } = poolOf(decideRoutes(policy, before, at + 1), 'write');
      for (const [name, standing] of standings) {
        const record = before.members.get(name);
        const timeline = record?.checks.get('/primary')?.positiveTimeline;
        if (name !== 'pg-2' && timeline !== undefined) expect(standing.kind).toBe('leave');
      }
    }),
  );
});
