// The lines of the charts, from the samples, and the charts in words.
import { expect, test } from 'vitest';
import type { SamplesDocument } from '../../../../src/documents/samples-document.ts';
import { linesOf, summaryOf } from '../../../../src/page/charts/lines.ts';

function samples(parked: Readonly<Record<string, readonly number[]>>): SamplesDocument {
  const pools = Object.fromEntries(
    Object.entries(parked).map(([name, own]) => [name, { sessions: [9, 9], waiting: [0, 1], parked: own }]),
  );
  return { interval_seconds: 5, times: [1, 2], pools, members: {} };
}

test('a pool has a line of its own for parked sessions once it had one', () => {
  const { sessions, waiting } = linesOf(samples({ write: [0, 5], read: [0, 0] }));
  expect(sessions).toEqual([
    { name: 'write', values: [9, 9] },
    { name: 'read', values: [9, 9] },
    { name: 'write, parked', values: [0, 5] },
  ]);
  expect(waiting.map(({ name }) => name)).toEqual(['write', 'read']);
});

test('no chart has more lines than can be told apart', () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`pool-${index}`, [1, 1]]));
  const { sessions, waiting } = linesOf(samples(many));
  expect([sessions.length, waiting.length]).toEqual([8, 8]);
});

test('in words each line has its value now and its range', () => {
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
