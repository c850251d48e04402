// The demand of the reads of a database: when the primary must be asked again, and which word they share.
import { expect, test } from 'vitest';
import type { ForwardedBytes } from '../../../../src/core/acknowledgements.ts';
import type { PrimaryServer } from '../../../../src/core/read-index.ts';
import { Acknowledgements } from '../../../../src/proxy/reads/acknowledgements.ts';
import { FakePositions } from '../../../support/fakes/fake-positions.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../../support/values/builders.ts';

const PRIMARY: PrimaryServer = { member: 'pg-1', address: { host: 'pg-1', port: 5432 }, timeline: 1 };

async function asked() {
  const positions = new FakePositions();
  const snapshot = aSnapshot(aPolicy(), aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0));
  const bytes = { server: PRIMARY, toClientBytes: 7 };
  const sources = new Map<string | undefined, readonly ForwardedBytes[]>([['app', [bytes]]]);
  let proven: PrimaryServer | undefined = PRIMARY;
  const acknowledgements = new Acknowledgements({
    positions,
    snapshot: () => snapshot,
    proven: () => proven,
    forwarded: (database) => sources.get(database) ?? [],
  });
  await positions.askPrimary(PRIMARY);
  const primaryIs = (next: PrimaryServer | undefined): void => {
    proven = next;
  };
  return { positions, bytes, acknowledgements, primaryIs };
}

test('reads share one demand until bytes come that may acknowledge something', async () => {
  const { positions, bytes, acknowledgements } = await asked();
  const first = acknowledgements.demand('app');
  expect(first).toEqual({ arrived: 1, shared: { word: undefined } });
  await positions.askPrimary(PRIMARY);
  expect(acknowledgements.demand('app')).toBe(first);
  bytes.toClientBytes += 1;
  const next = acknowledgements.demand('app');
  expect(next.arrived).toBe(2);
  expect(next.shared).not.toBe(first.shared);
  expect(acknowledgements.demand('app')).toBe(next);
});

test('each database has its own', async () => {
  const { positions, bytes, acknowledgements } = await asked();
  const other = acknowledgements.demand('other');
  acknowledgements.demand('app');
  bytes.toClientBytes += 1;
  await positions.askPrimary(PRIMARY);
  expect(acknowledgements.demand('app').arrived).toBe(2);
  expect(acknowledgements.demand('other')).toBe(other);
});

test('a word is not shared any longer when its primary has lost WAL, or its connection', async () => {
  const { positions, acknowledgements, primaryIs } = await asked();
  const first = acknowledgements.demand('app');
  const word = await positions.askPrimary(PRIMARY);
  if ('why' in word) throw new Error(word.why);
  first.shared.word = word;
  expect(acknowledgements.demand('app')).toBe(first);
  positions.written -= 1;
  await positions.askPrimary(PRIMARY);
  const second = acknowledgements.demand('app');
  expect(second).toEqual({ arrived: first.arrived, shared: { word: undefined } });
  second.shared.word = word;
  primaryIs({ ...PRIMARY, member: 'pg-3' });
  expect(acknowledgements.demand('app').shared.word).toBeUndefined();
});

test('with very many names all are forgotten, and their next reads ask', async () => {
  const { positions, acknowledgements } = await asked();
  const first = acknowledgements.demand('app');
  await positions.askPrimary(PRIMARY);
  for (let number = 1; number < 1000; number += 1) acknowledgements.demand(`app${number}`);
  expect(acknowledgements.demand('app')).toBe(first);
  acknowledgements.demand('one more');
  expect(acknowledgements.demand('app').arrived).toBe(2);
});
