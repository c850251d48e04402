// Whether a primary has everything that another primary has confirmed before a session left it. The proof is in the
// words of both servers, each on a connection of the session: no clock and no report of an API is needed. Everything
// unknown is no proof. Pure.
import type { WalReport } from '../model/moves.ts';
import type { CatchUp } from './caught-up.ts';

const COVERED: CatchUp = { kind: 'caught_up' };
const LOST: CatchUp = { kind: 'never', why: 'wal_missing' };

/**
 * `left`: the words of the old server when the session left it. `next`: those of the next one now; undefined: they are
 * not understood. A server that was promoted tells up to where it had replayed the timeline before its own, and a
 * server that has crashed since tells the end of its own WAL at that place. `firstSeen`: the first position that the
 * next server's API reported on its timeline, in bytes; undefined: none is known. Two promotions are too many: nobody
 * tells where the first of the two timelines ended. A crash of the old server before the promotion of another one is
 * not seen: the session goes back to the old server first, and ends there.
 */
export function succeeds(left: WalReport, next: WalReport | undefined, firstSeen: number | undefined): CatchUp {
  if (left.kind !== 'primary' || next === undefined) return LOST;
  if (next.kind !== 'primary') return { kind: 'not_yet', why: 'other_timeline' };
  if (next.timeline === left.timeline) return keptBy(next, left) >= left.written ? COVERED : LOST;
  const { recovered = -Infinity } = next;
  const isOfPromotion = next.timeline === left.timeline + 1 && recovered < (firstSeen ?? -Infinity);
  return isOfPromotion && recovered >= left.written ? COVERED : LOST;
}

type Primary = Extract<WalReport, { kind: 'primary' }>;

/** On the same timeline. WAL that was not on disk is lost in a crash, and other records get its positions. */
function keptBy({ recovered, written }: Primary, before: Primary): number {
  return recovered === undefined || recovered === before.recovered ? written : recovered;
}
