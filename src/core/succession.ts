// Whether a primary has everything that another primary has confirmed before a session left it. The proof is in the
// words of both servers, each on a connection of the session: no clock and no report of an API is needed. Everything
// unknown is no proof. Pure.
import type { WalReport } from '../model/moves.ts';
import type { CatchUp } from './caught-up.ts';

const COVERED: CatchUp = { kind: 'caught_up' };
const LOST: CatchUp = { kind: 'never', why: 'wal_missing' };

/**
 * `left`: the words of the old server when the session left it. `next`: those of the next one now; undefined: they are
 * not understood. A server that was promoted tells up to where it had replayed the timeline before its own. Two
 * promotions are too many: nobody tells where the first of the two timelines ended.
 */
export function succeeds(left: WalReport, next: WalReport | undefined): CatchUp {
  if (left.kind !== 'primary' || next === undefined) return LOST;
  if (next.kind !== 'primary') return { kind: 'not_yet', why: 'other_timeline' };
  if (next.timeline === left.timeline) return next.written >= left.written ? COVERED : LOST;
  const isNext = next.timeline === left.timeline + 1;
  return isNext && (next.recovered ?? -Infinity) >= left.written ? COVERED : LOST;
}
