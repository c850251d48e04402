import { expect, test } from 'vitest';
import { createExclusion } from '../../../src/admin/exclusion.ts';

test('one operation at a time; the others learn its name; leaving twice does not end the next one', () => {
  const exclusion = createExclusion();
  const leave = exclusion.enter('POST /a');
  expect(exclusion.enter('POST /b')).toBeUndefined();
  expect(exclusion.running()).toBe('POST /a');
  leave?.();
  expect(exclusion.enter('POST /b')).toBeDefined();
  leave?.();
  expect(exclusion.running()).toBe('POST /b');
});
