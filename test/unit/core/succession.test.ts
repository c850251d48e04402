// Whether the next primary has all that a session was told by the one that it left.
import { array, assert, boolean, nat, option, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { succeeds } from '../../../src/core/succession.ts';
import type { WalReport } from '../../../src/model/moves.ts';

const TRANSACTIONS = { allEndedBelow: 740, allVisibleBelow: 751 };
const LOST = { kind: 'never', why: 'wal_missing' };
const LEFT = aPrimary(3, 5_000);

function aPrimary(timeline: number, written: number, recovered?: number): WalReport {
  return { kind: 'primary', timeline, written, recovered, transactions: TRANSACTIONS };
}

const FIRST_SEEN = 6_500;

/** With a first report of the next server that is younger than its promotion. */
function follows(left: WalReport, next: WalReport): ReturnType<typeof succeeds> {
  return succeeds(left, next, FIRST_SEEN);
}

test('the same server, and one that was promoted with all of its WAL', () => {
  expect(follows(LEFT, aPrimary(3, 5_000))).toEqual({ kind: 'caught_up' });
  expect(follows(aPrimary(3, 5_000, 100), aPrimary(3, 9_000, 100))).toEqual({ kind: 'caught_up' });
  expect(follows(LEFT, aPrimary(4, 9_000, 5_000))).toEqual({ kind: 'caught_up' });
});

test('the same server after a stop in order, and after a crash that lost nothing', () => {
  expect(follows(aPrimary(3, 5_000, 100), aPrimary(3, 9_000))).toEqual({ kind: 'caught_up' });
  expect(follows(LEFT, aPrimary(3, 9_000, 5_000))).toEqual({ kind: 'caught_up' });
});

test.each([
  ['was promoted without the last record', aPrimary(4, 9_000, 4_999)],
  ['does not tell up to where it had replayed', aPrimary(4, 9_000)],
  ['was promoted after another one', aPrimary(5, 9_000, 6_000)],
  ['is on an older timeline', aPrimary(2, 9_000, 6_000)],
  ['has lost WAL of its own', aPrimary(3, 4_999)],
  ['has lost WAL in a crash and written other records there', aPrimary(3, 9_000, 4_999)],
  ['has crashed since its promotion', aPrimary(4, 9_000, FIRST_SEEN)],
])('lost: the next primary %s', (_, next) => {
  expect(follows(LEFT, next)).toEqual(LOST);
});

test('lost: no report of the next primary tells that it has not crashed', () => {
  expect(succeeds(LEFT, aPrimary(4, 9_000, 5_000), undefined)).toEqual(LOST);
});

test('a server that still recovers may become one', () => {
  const standby: WalReport = { kind: 'standby', replayed: 6_000, transactions: TRANSACTIONS };
  expect(follows(LEFT, standby)).toEqual({ kind: 'not_yet', why: 'other_timeline' });
  expect(succeeds(LEFT, undefined, FIRST_SEEN), 'its words are not understood').toEqual(LOST);
  expect(follows(standby, aPrimary(4, 9_000, 8_000))).toEqual(LOST);
  expect(follows(standby, standby), 'a session that was on no primary has no successor to wait for').toEqual(LOST);
});

/**
 * A history of primaries. Each one has replayed the timeline before its own up to some position, writes on from it and
 * is seen, and may crash then: it keeps what its API had reported, and writes on.
 */
const histories = array(
  record({ lost: nat(50), written: nat(100), crash: option(record({ lost: nat(100), written: nat(200) })) }),
  {
    minLength: 2,
    maxLength: 5,
  },
);

test('property: no primary that lacks a byte of the old one is taken for its successor', () => {
  assert(
    property(histories, nat(), nat(), boolean(), (steps, oldAt, nextAt, isLeftBeforeCrash) => {
      let end = 1_000;
      const primaries = steps.map(({ lost, written, crash }, index) => {
        const start = index === 0 ? end : end - lost;
        const firstSeen = start + 1;
        const before = { recovered: index === 0 ? undefined : start, end: firstSeen + written };
        const kept = Math.max(firstSeen, before.end - (crash?.lost ?? 0));
        const after = crash === null ? before : { recovered: kept, end: kept + crash.written };
        end = after.end;
        return { start, firstSeen, before, kept: crash === null ? before.end : kept, after };
      });
      const [oldIndex, nextIndex] = [oldAt % primaries.length, nextAt % primaries.length];
      const [old, next] = [primaries[oldIndex], primaries[nextIndex]];
      if (old === undefined || next === undefined || oldIndex > nextIndex) return;
      // A session that waits goes back to a server that has recovered, before the next one is promoted.
      const wasLeftBefore = isLeftBeforeCrash && oldIndex === nextIndex;
      const state = wasLeftBefore ? old.before : old.after;
      const left = aPrimary(oldIndex + 1, state.end, state.recovered);
      const found = succeeds(left, aPrimary(nextIndex + 1, next.after.end, next.after.recovered), next.firstSeen);
      if (found.kind !== 'caught_up') return;
      const later = primaries.slice(oldIndex + 1, nextIndex + 1).map(({ start }) => start);
      const kept = Math.min(...later, wasLeftBefore ? old.kept : Infinity);
      expect(kept).toBeGreaterThanOrEqual(left.kind === 'primary' ? left.written : Infinity);
    }),
  );
});
