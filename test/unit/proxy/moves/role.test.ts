import { expect, test } from 'vitest';
import { roleOf } from '../../../../src/proxy/moves/move-facts.ts';
import { aStartup } from '../../../support/sockets/packets.ts';

test.each([
  ['app', 'app'],
  ['a'.repeat(63), 'a'.repeat(63)],
  ['a'.repeat(9_000), 'a'.repeat(63)],
  ['ü'.repeat(31), 'ü'.repeat(31)],
])('a role of a startup packet is cut as PostgreSQL cuts it: %s', (user, role) => {
  expect(roleOf(aStartup({ user }))).toBe(role);
});
