// The SQLSTATE of a refused login as a label of a metric and in words.
import { expect, test } from 'vitest';
import { REFUSAL_LABELS, refusalLabel, refusalText } from '../../../src/core/refusal-words.ts';

test.each([
  ['08P01', '08P01', '08P01, protocol violation'],
  ['28000', '28000', '28000, not authorized'],
  ['28P01', '28P01', '28P01, wrong password'],
  ['3D000', '3D000', '3D000, no such database'],
  ['42501', '42501', '42501, permission denied'],
  ['53200', '53200', '53200, out of memory'],
  ['53300', '53300', '53300, too many connections'],
  ['55000', '55000', '55000, the database takes no connections'],
  ['57P01', '57P01', '57P01, the server is shutting down'],
  ['57P02', '57P02', '57P02, the server has crashed'],
  ['57P03', '57P03', '57P03, the server takes no connections now'],
  ['XX000', 'other', 'XX000'],
  [undefined, 'none', 'connection closed without an error message'],
])('%s is the label %s, and reads %j', (sqlState, label, text) => {
  expect(refusalLabel(sqlState)).toBe(label);
  expect(refusalText(sqlState)).toBe(text);
  expect(REFUSAL_LABELS).toContain(label);
});

test('a server cannot add a label', () => {
  expect(refusalLabel('toString')).toBe('other');
  expect(REFUSAL_LABELS).toHaveLength(13);
});
