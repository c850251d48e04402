// The ring of samples: its hour, and names that come and go.
import { expect, test } from 'vitest';
import { Samples } from '../../../src/admin/samples.ts';
import type { Sample } from '../../../src/admin/samples.ts';
import { samplesDocument } from '../../../src/documents/samples-document.ts';

const WALL = 1_700_000_000_000;

function aSample(at: number, members: Readonly<Record<string, number | undefined>> = {}): Sample {
  return {
    at,
    pools: new Map([['write', { sessions: at / 1000, waiting: 2, parked: 3 }]]),
    members: new Map(Object.entries(members).map(([name, lagBytes]) => [name, { lagBytes, sessions: 1 }])),
  };
}

function filled(count: number, membersAt: (number: number) => Readonly<Record<string, number | undefined>>): Samples {
  const samples = new Samples();
  for (let number = 0; number < count; number += 1) samples.put(aSample(number * 5000, membersAt(number)));
  return samples;
}

function oldThenNew(number: number): Record<string, number> {
  return number < 2 ? { old: 1 } : { new: 2 };
}

function names(from: number, count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${from + index}`, 0]));
}

test('without a sample the lists are empty', () => {
  const document = new Samples().document(0, WALL);
  expect(document).toEqual({ interval_seconds: 5, times: [], pools: {}, members: {} });
  expect(samplesDocument.safeParse(document).success).toBe(true);
});

test('times are those of the clock on the wall; what is unknown is null', () => {
  const samples = filled(2, (number) => ({ 'pg-1': undefined, 'pg-2': 7 + number }));
  expect(samples.document(6000, WALL)).toEqual({
    interval_seconds: 5,
    times: [WALL / 1000 - 6, WALL / 1000 - 1],
    pools: { write: { sessions: [0, 5], waiting: [2, 2], parked: [3, 3] } },
    members: {
      'pg-1': { lag_bytes: [null, null], sessions: [1, 1] },
      'pg-2': { lag_bytes: [7, 8], sessions: [1, 1] },
    },
  });
});

test('it keeps one hour', () => {
  const { times, pools } = filled(1000, () => ({})).document(999 * 5000, WALL);
  expect([times.length, times[0], times.at(-1)]).toEqual([720, WALL / 1000 - 719 * 5, WALL / 1000]);
  expect([pools['write']?.sessions[0], pools['write']?.sessions.at(-1)]).toEqual([280 * 5, 999 * 5]);
});

test('a member has null before it comes and after it goes, and is forgotten after an hour', () => {
  expect(filled(4, oldThenNew).document(0, 0).members).toEqual({
    old: { lag_bytes: [1, 1, null, null], sessions: [1, 1, null, null] },
    new: { lag_bytes: [null, null, 2, 2], sessions: [null, null, 1, 1] },
  });
  expect(Object.keys(filled(721, oldThenNew).document(0, 0).members)).toEqual(['old', 'new']);
  const [members] = [filled(722, oldThenNew).document(0, 0).members];
  expect(Object.keys(members)).toEqual(['new']);
  expect(members['new']?.lag_bytes).not.toContain(null);
});

test('a member that is back after an hour does not get its old values again', () => {
  const { members } = filled(1000, (number) => (number < 500 || number === 999 ? { a: number } : {})).document(0, 0);
  expect(members['a']?.lag_bytes.filter((value) => value !== null)).toEqual(
    Array.from({ length: 220 }, (_, index) => 280 + index).concat(999),
  );
});

test('a hundred names at most: a new one takes the place of the one that is away for longest', () => {
  const { members } = filled(3, (number) => names(number * 10, 95)).document(0, 0);
  expect(Object.keys(members).length).toBe(100);
  for (const name of Object.keys(names(20, 95))) expect(Object.keys(members)).toContain(name);
  expect(Object.keys(filled(1, () => names(0, 200)).document(0, 0).members).length).toBe(100);
});
