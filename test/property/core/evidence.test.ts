// The properties of guarantees.md about evidence, over random histories. Each title names its property.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
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
import { aboutWriting } from './words.ts';
import { everyTable } from './tables.ts';

/** If a member has reported its identity before, an answer without identity is no evidence. */
const US = { scope: 'lab' };

test('G1: an exclusive pool has at most one member at every instant', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table) => {
        expect(openIn(table, 'write').length).toBeLessThanOrEqual(1);
        const standings = [...poolOf(table, 'write').standings.values()];
        expect(standings.filter(({ kind }) => kind === 'open').length).toBeLessThanOrEqual(1);
      });
    }),
  );
});

test('the primary is never on a timeline below the highest seen', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table, told) => {
        for (const name of openIn(table, 'write')) {
          const facts = told.members.find((member) => member.name === name)?.facts ?? [];
          const yes = facts.findLast(
            ({ kind, probe }) => kind === 'answer' && probe !== undefined && aboutWriting(probe) === 'yes',
          );
          const outcome = yes?.probe?.outcome;
          const timeline = outcome?.kind === 'answered' ? outcome.body?.timeline : undefined;
          if (timeline !== undefined) expect(timeline).toBeGreaterThanOrEqual(told.top ?? 0);
        }
      });
    }),
  );
});

test('G2: the primary never has stale evidence: its yes or vouch began within the last 5 s', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table, told, now) => {
        for (const name of openIn(table, 'write')) {
          const facts = told.members.find((member) => member.name === name)?.facts ?? [];
          const proofs = facts.filter(
            ({ kind, probe }) =>
              kind === 'vouch' || (kind === 'answer' && probe !== undefined && aboutWriting(probe) === 'yes'),
          );
          expect(Math.max(...proofs.map(({ at }) => at))).toBeGreaterThan(now - 5000);
        }
      });
    }),
  );
});

test('G5: read evidence is younger than 10 s, except in a fallback', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table, told, now) => {
        const route = routeOf(table, 'read');
        if (route.kind !== 'open' || route.fallback !== undefined) return;
        for (const { member } of route.targets) {
          const facts = told.members.find(({ name }) => name === member)?.facts ?? [];
          const ats = facts
            .filter(({ kind, probe }) => kind === 'answer' && probe?.check === READ_CHECK)
            .map(({ at }) => at);
          expect(Math.max(...ats)).toBeGreaterThan(now - 10_000);
        }
      });
    }),
  );
});

test('a member that answered no at t comes back only by a probe that started after t', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table, told) => {
        for (const name of openIn(table, 'write')) {
          const facts = told.members.find((member) => member.name === name)?.facts ?? [];
          const said = (wanted: string) =>
            facts.filter(
              ({ kind, probe }) => kind === 'answer' && probe !== undefined && aboutWriting(probe) === wanted,
            );
          const noes = [
            ...said('no').filter(({ probe }) => probe?.check === '/primary'),
            ...facts.filter(({ kind }) => kind === 'dead'),
          ];
          const lastNo = Math.max(...noes.map(({ at }) => at));
          expect(Math.max(...said('yes').map(({ at }) => at))).toBeGreaterThan(lastNo);
        }
      });
    }),
  );
});

test('a dead member is in no pool until it answers again', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table, told) => {
        for (const pool of table.pools.keys()) {
          for (const name of openIn(table, pool)) {
            const facts = told.members.find((member) => member.name === name)?.facts ?? [];
            const diedAt = facts.findLast(({ kind }) => kind === 'dead')?.at ?? -Infinity;
            const answeredAt = facts.findLast(({ kind }) => kind === 'answer')?.at ?? -Infinity;
            expect(answeredAt).toBeGreaterThan(diedAt);
          }
        }
      });
    }),
  );
});

test('G13: no session is routed before the first complete round', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table, told) => {
        expect(table.complete).toBe(told.complete);
        if (!told.complete) for (const pool of table.pools.values()) expect(pool.route.kind).not.toBe('open');
      });
    }),
  );
});

test('the member of the exclusive pool is in no other pool, except as a fallback', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table) => {
        const [writer] = openIn(table, 'write');
        for (const name of ['read', 'zone']) {
          const route = routeOf(table, name);
          const isBorrowed = route.kind === 'open' && route.fallback !== undefined;
          if (writer !== undefined && !isBorrowed) expect(openIn(table, name)).not.toContain(writer);
        }
      });
    }),
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
