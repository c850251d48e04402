// The lines of the charts, from the samples.
import { expect, test } from 'vitest';
import type { SamplesDocument } from '../../../../src/documents/samples-document.ts';
import { linesOf } from '../../../../src/page/charts/lines.ts';

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
