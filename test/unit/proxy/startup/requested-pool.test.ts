import { expect, test } from 'vitest';
import { describeUnknown, poolOfTarget } from '../../../../src/proxy/startup/requested-pool.ts';

test.each([
  ['write', ['write', 'read'], 'write'],
  ['rw', ['write', 'read'], 'write'],
  ['ro', ['write', 'read'], 'read'],
  ['analytics', ['write', 'analytics'], 'analytics'],
  ['ro', ['write', 'read', 'ro'], 'ro'],
  ['ro', ['write'], undefined],
  // Names are what the operator wrote.
  ['RO', ['write', 'read'], undefined],
  ['', ['write', 'read'], undefined],
  ['toString', ['write', 'read'], undefined],
  ['__proto__', ['write', 'read'], undefined],
])('%s of %j: %s', (target, pools, expected) => {
  expect(poolOfTarget(target, pools)).toBe(expected);
});

test('who asked for what is not there learns what is', () => {
  expect(describeUnknown('foo', ['write', 'read'])).toBe('"foo" is none of write, read, rw (write), ro (read)');
  expect(describeUnknown('foo', ['read', 'ro'])).toBe('"foo" is none of read, ro');
  expect(describeUnknown('x'.repeat(9_000), ['write']).length).toBeLessThan(200);
  expect(describeUnknown('ro\n{"level":"fatal"}', ['write'])).toMatch(/^"ro\\u000a\{"level/);
});
