import { expect, test } from 'vitest';
import { isAboutClient, mayPass } from '../../../../src/wire/messages/sql-state.ts';

test.each([
  ['57P03', true],
  ['53300', true],
  // A server without memory, and a standby whose replay comes before a statement.
  ['53200', true],
  ['53000', true],
  ['40001', true],
  ['55P03', true],
  ['28P01', false],
  ['42501', false],
  ['XX000', false],
  [undefined, false],
])('another attempt may succeed after %s: %s', (sqlState, expected) => {
  expect(mayPass(sqlState)).toBe(expected);
});

test.each([
  ['28P01', true],
  ['53300', true],
  ['53200', false],
  ['57P03', false],
])('%s concerns this client alone: %s', (sqlState, expected) => {
  expect(isAboutClient(sqlState)).toBe(expected);
});
