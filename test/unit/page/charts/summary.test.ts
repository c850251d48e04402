// A chart in words.
import { expect, test } from 'vitest';
import { summaryOf } from '../../../../src/page/charts/summary.ts';

test('each line has its value now and its range', () => {
  const lines = [
    { name: 'write', values: [0, null, 57, 42] },
    { name: 'read', values: [3, 3] },
    { name: 'old', values: [1, null] },
    { name: 'new', values: [null] },
  ];
  expect(summaryOf('Sessions', lines, String, '')).toBe(
    'Sessions of the last hour. write: 42 now, 0 to 57. read: 3 now, always 3. ' +
      'old: unknown now, always 1. new: unknown.',
  );
});

test('without lines it says why', () => {
  expect(summaryOf('Replication lag', [], String, 'No replicas.')).toBe('Replication lag: No replicas.');
});
