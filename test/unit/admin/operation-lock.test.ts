import { expect, test } from 'vitest';
import { createOperationLock } from '../../../src/admin/operation-lock.ts';

test('one operation at a time; the others learn its name; leaving twice does not end the next one', () => {
  const operationLock = createOperationLock();
  const leave = operationLock.enter('POST /a');
  expect(operationLock.enter('POST /b')).toBeUndefined();
  expect(operationLock.running()).toBe('POST /a');
  leave?.();
  expect(operationLock.enter('POST /b')).toBeDefined();
  leave?.();
  expect(operationLock.running()).toBe('POST /b');
});
