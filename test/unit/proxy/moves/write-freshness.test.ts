// The next primary of a write session: what its API has reported counts from the first report of its timeline on.
import { expect, test } from 'vitest';
import type { WalSample } from '../../../../src/core/coverage.ts';
import type { WalReport } from '../../../../src/model/moves.ts';
import { WriteFreshness } from '../../../../src/proxy/moves/write-freshness.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const TRANSACTIONS = { allEndedBelow: 740, allVisibleBelow: 751 };

function aPrimary(timeline: number, written: number, recovered?: number): WalReport {
  return { kind: 'primary', timeline, written, recovered, transactions: TRANSACTIONS };
}

function aSample(at: number, timeline: number, bytes: number): WalSample {
  return { at, bytes, run: { timeline, startedAt: 'once' } };
}

/** Newest first. */
const REPORTED = [aSample(300, 4, 9_000), aSample(200, 4, 6_500), aSample(100, 3, 4_000)];

function found(recovered: number, member = 'pg-2'): string {
  const samples = new Map([['pg-2', REPORTED]]);
  const order = new WriteFreshness({ clock: new ManualClock(), wal: () => ({ samples, ends: undefined }) });
  const shown = order.shown('pg-1', aPrimary(3, 5_000));
  const bound = typeof shown === 'string' ? undefined : order.bind(shown, member);
  return bound?.kind === 'succeed' ? bound.compare(aPrimary(4, 9_500, recovered)).kind : 'no comparison';
}

test('a member that recovered before its first report on the timeline was promoted then', () => {
  expect(found(5_000)).toBe('caught_up');
  expect(found(6_499)).toBe('caught_up');
  expect(found(6_500)).toBe('never');
  expect(found(7_000)).toBe('never');
});

test('of a member without a report nothing is proven', () => {
  expect(found(5_000, 'pg-3')).toBe('never');
});
