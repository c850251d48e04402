// The pool that a client requests, by its name or by an alias.
import { expect, test } from 'vitest';
import { findPool } from '../../../src/model/pool-names.ts';

test.each([
  ['write', ['write', 'read'], 'write'],
  ['rw', ['write', 'read'], 'write'],
  ['ro', ['write', 'read'], 'read'],
  ['analytics', ['write', 'analytics'], 'analytics'],
  ['ro', ['write', 'read', 'ro'], 'ro'],
  ['ro', ['write'], undefined],
  // The operator wrote these names.
  ['RO', ['write', 'read'], undefined],
  ['', ['write', 'read'], undefined],
  ['toString', ['write', 'read'], undefined],
  ['__proto__', ['write', 'read'], undefined],
])('%s of %j: %s', (target, pools, expected) => {
  expect(findPool(target, pools)).toBe(expected);
});
