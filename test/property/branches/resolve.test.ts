// Any list, any target: a branch that the list has, or none; never the address of another branch.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexBranches, slugOf } from '../../../src/branches/resolve.ts';
import type { Branch, BranchesPolicy } from '../../../src/model/branch.ts';
import { branchesPolicy } from '../../support/values/branch-lists.ts';
import { rounds } from '../../support/runner/ci.ts';

/** Few letters, so that names, slugs and ids meet. */
const word = fc.string({ unit: fc.constantFrom('a', 'B', 'b', '-', '/', '.', '*'), minLength: 1, maxLength: 4 });

const branches: fc.Arbitrary<readonly Branch[]> = fc.array(
  fc.record({
    id: word,
    name: word,
    parentId: fc.option(word, { nil: undefined }),
    parentLsn: fc.constant(undefined),
    lastRecordLsn: fc.constant(undefined),
    hasReadEndpoint: fc.option(fc.boolean(), { nil: undefined }),
  }),
  { maxLength: 8 },
);

const host = fc.constantFrom('{id}.test', '{name}.test', '{slug}.test', 'x-{slug}-{id}.test', '{name}');
const template = fc.option(
  host.map((text) => ({ host: text, port: 5432 })),
  { nil: undefined },
);
const singles = fc
  .array(fc.tuple(word, fc.constantFrom('a.test', 'b.test')), { maxLength: 2 })
  .map((entries) => new Map(entries.map(([key, name]) => [key, { host: name, port: 5432 }])));
const policies: fc.Arbitrary<BranchesPolicy> = fc
  .record({
    template,
    readTemplate: template,
    overrides: singles,
    readOverrides: singles,
    allow: fc.option(fc.array(fc.oneof(word, fc.constant('*')), { minLength: 1, maxLength: 3 }), { nil: undefined }),
  })
  .map(({ allow, ...backends }) => branchesPolicy({ allow, backends }));

const access = fc.constantFrom('write', 'read');
const worlds = fc.tuple(branches, policies, word, access);

test('a found branch is in the list, and the target is its id, its name or its slug', () => {
  fc.assert(
    fc.property(worlds, ([list, policy, target, wanted]) => {
      const found = indexBranches(list, policy).lookup(target, wanted);
      if (found.kind !== 'found') return;
      expect(list).toContain(found.branch);
      expect([found.branch.id, found.branch.name, slugOf(found.branch.name)]).toContain(target);
    }),
    { numRuns: rounds(500, 2000) },
  );
});

test('a target is unknown exactly if no branch has it as id, name or slug', () => {
  fc.assert(
    fc.property(worlds, ([list, policy, target, wanted]) => {
      const has = list.filter((one, i) => list.findIndex(({ id }) => id === one.id) === i);
      const isThere = has.some(({ id, name }) => [id, name, slugOf(name)].includes(target));
      expect(indexBranches(list, policy).lookup(target, wanted).kind === 'unknown').toBe(!isThere);
    }),
    { numRuns: rounds(500, 2000) },
  );
});

test('a slug or a name that finds a branch is that of no other branch', () => {
  fc.assert(
    fc.property(branches, policies, word, (list, policy, target) => {
      const match = indexBranches(list, policy).match(target);
      if (match?.branches.length !== 1 || match.by === 'id') return;
      const ids = new Set(list.map(({ id }) => id));
      const has = [...ids].map((id) => list.find((one) => one.id === id));
      const same = has.filter((one) => (match.by === 'name' ? one?.name : slugOf(one?.name ?? '')) === target);
      expect(same).toEqual(match.branches);
    }),
    { numRuns: rounds(500, 2000) },
  );
});

test('two branches never get one address, unless overrides by id say so', () => {
  fc.assert(
    fc.property(branches, policies, (list, policy) => {
      const index = indexBranches(list, policy);
      const owners = new Map<string, string>();
      for (const { id } of index.branches) {
        for (const wanted of ['write', 'read'] as const) {
          const found = index.lookup(id, wanted);
          if (found.kind !== 'found') continue;
          const { address, rule } = found.backend;
          const { overrides, readOverrides } = policy.backends;
          if (rule === 'override' && overrides.has(id)) continue;
          if (rule === 'read_override' && readOverrides.has(id)) continue;
          const place = address.host.toLowerCase();
          expect(owners.get(place) ?? id).toBe(id);
          owners.set(place, id);
        }
      }
    }),
    { numRuns: rounds(500, 2000) },
  );
});

test('a root is routed by a pattern alone that names more than everything', () => {
  fc.assert(
    fc.property(worlds, ([list, policy, target, wanted]) => {
      const found = indexBranches(list, policy).lookup(target, wanted);
      if (found.kind !== 'found' || found.branch.parentId !== undefined) return;
      expect(policy.allow?.some((pattern) => /[^*]/.test(pattern))).toBe(true);
    }),
    { numRuns: rounds(500, 2000) },
  );
});
