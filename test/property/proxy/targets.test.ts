// A pool always wins over a branch, whatever branches there are; nothing else of a target is a pool.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { choosePool } from '../../../src/proxy/startup/startup-parameters.ts';
import { branchesPolicy } from '../../support/values/branch-lists.ts';
import { aPool } from '../../support/values/builders.ts';

const word = fc.constantFrom(
  'write',
  'read',
  'rw',
  'ro',
  'branches',
  'reports',
  'pr-1',
  'Write',
  'write ',
  '',
  '__proto__',
);
const pools = fc.uniqueArray(fc.constantFrom('write', 'read', 'rw', 'reports'), { minLength: 1 });
const branches = branchesPolicy();
const aliases = new Map([
  ['rw', 'write'],
  ['ro', 'read'],
]);

test('a target with the name of a pool, or rw and ro for the usual ones, is that pool with branches as without', () => {
  fc.assert(
    fc.property(word, pools, (target, names) => {
      const policy = { pools: names.map((name) => aPool({ name })) };
      const alone = choosePool(target, 'write', policy);
      const beside = choosePool(target, 'write', { ...policy, branches });
      const wanted = aliases.get(target);
      const pool = names.find((name) => name === target) ?? names.find((name) => name === wanted);
      if (pool === undefined) {
        expect([alone.kind, beside.kind]).toEqual(['unknown', 'branch']);
        expect(beside).toMatchObject({ target, pool: 'branches' });
      } else {
        expect([alone, beside]).toEqual([
          { kind: 'pool', pool },
          { kind: 'pool', pool },
        ]);
      }
    }),
  );
});
