// Whether the next primary has all that a session was told by the one that it left.
import { array, assert, nat, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { succeeds } from '../../../src/core/succession.ts';
import type { WalReport } from '../../../src/model/moves.ts';

const TRANSACTIONS = { allEndedBelow: 740, allVisibleBelow: 751 };
const LOST = { kind: 'never', why: 'wal_missing' };
const LEFT = aPrimary(3, 5_000);

function aPrimary(timeline: number, written: number, recovered?: number): WalReport {
  return { kind: 'primary', timeline, written, recovered, transactions: TRANSACTIONS };
}

test('the same server, and one that was promoted with all of its WAL', () => {
  expect(succeeds(LEFT, aPrimary(3, 5_000))).toEqual({ kind: 'caught_up' });
  expect(succeeds(LEFT, aPrimary(3, 9_000, 100))).toEqual({ kind: 'caught_up' });
  expect(succeeds(LEFT, aPrimary(4, 9_000, 5_000))).toEqual({ kind: 'caught_up' });
});

test.each([
  ['was promoted without the last record', aPrimary(4, 9_000, 4_999)],
  ['does not tell up to where it had replayed', aPrimary(4, 9_000)],
  ['was promoted after another one', aPrimary(5, 9_000, 6_000)],
  ['is on an older timeline', aPrimary(2, 9_000, 6_000)],
  ['has lost WAL of its own', aPrimary(3, 4_999)],
])('lost: the next primary %s', (_, next) => {
  expect(succeeds(LEFT, next)).toEqual(LOST);
});

test('a server that still recovers may become one', () => {
  const standby: WalReport = { kind: 'standby', replayed: 6_000, transactions: TRANSACTIONS };
  expect(succeeds(LEFT, standby)).toMatchObject({ kind: 'not_yet' });
  expect(succeeds(standby, aPrimary(4, 9_000, 8_000))).toEqual(LOST);
});

/** A history of primaries: each has replayed the timeline before its own up to some position, and writes on from it. */
const histories = array(record({ lost: nat(50), written: nat(100) }), { minLength: 2, maxLength: 5 });

test('property: no primary that lacks a byte of the old one is taken for its successor', () => {
  assert(
    property(histories, nat(), nat(), (steps, oldAt, nextAt) => {
      let end = 1_000;
      const primaries = steps.map(({ lost, written }, index) => {
        const recovered = index === 0 ? undefined : end - lost;
        end = (recovered ?? end) + written;
        return { recovered, end };
      });
      const old = oldAt % primaries.length;
      const next = nextAt % primaries.length;
      if (old > next) return;
      const left = primaries[old]?.end ?? 0;
      const reports = primaries.map(({ recovered, end: writtenEnd }, at) => aPrimary(at + 1, writtenEnd, recovered));
      const [from, to] = [reports[old], reports[next]];
      if (from === undefined || to === undefined || succeeds(from, to).kind !== 'caught_up') return;
      const kept = Math.min(
        ...primaries.slice(old + 1, next + 1).map(({ recovered }) => recovered ?? Infinity),
        Infinity,
      );
      expect(kept).toBeGreaterThanOrEqual(left);
    }),
  );
});
