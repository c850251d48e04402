// Acknowledged writes that are not there at the end, and the proof of the cause of each.
import { type Ending, keyOf, type Promotion, type Write } from '../history.ts';
import { whyGivenUp } from './branches.ts';
import { position } from './positions.ts';

export type Cause =
  /** It was written behind the point where the next timeline forked: no replica that was promoted had it. */
  | 'behind the fork'
  /** The fork is between its insert and its commit: the last primary knows the transaction as aborted. */
  | 'commit behind the fork'
  /** Its whole timeline is no part of the history: Patroni took its primary back for an older one. */
  | 'timeline given up'
  /** PostgreSQL's replication does not explain it. */
  | 'unexplained';

export interface Loss {
  readonly write: Write;
  readonly cause: Cause;
  /** The facts, for people. */
  readonly proof: string;
}

export function lossesOf(writes: readonly Write[], promotions: readonly Promotion[], ending: Ending): readonly Loss[] {
  const stored = new Set(ending.stored.map(keyOf));
  return writes
    .filter((write) => write.outcome === 'acknowledged' && !stored.has(keyOf(write)))
    .map((write) => ({ write, ...causeOf(write, promotions, ending) }));
}

function causeOf({ place }: Write, promotions: readonly Promotion[], ending: Ending): Omit<Loss, 'write'> {
  if (place === undefined) return { cause: 'unexplained', proof: 'the client does not know where it was written' };
  const { timeline, forks, fates } = ending;
  const written = `written at ${place.lsn} of timeline ${place.timeline}`;
  const givenUp = whyGivenUp(place, promotions, ending);
  if (givenUp !== undefined) {
    return { cause: 'timeline given up', proof: `${written} by ${place.server}; ${givenUp}` };
  }
  if (place.timeline === timeline) return { cause: 'unexplained', proof: `${written}, which is the last one` };
  const fork = forks.find((one) => one.timeline === place.timeline);
  if (fork === undefined) return { cause: 'unexplained', proof: written };
  const forked = `the history leaves timeline ${place.timeline} at ${fork.lsn}`;
  if (position(place.lsn) >= position(fork.lsn)) return { cause: 'behind the fork', proof: `${written}; ${forked}` };
  const fate = fates.get(place.transaction) ?? 'unknown';
  const asked = `transaction ${place.transaction} is ${fate} at the last primary`;
  return {
    cause: fate === 'aborted' ? 'commit behind the fork' : 'unexplained',
    proof: `${written}; ${forked}; ${asked}`,
  };
}

/** Transactions whose fate the judge needs: lost, and begun before the fork. */
export function doubtfulTransactions(
  writes: readonly Write[],
  { stored, forks }: Pick<Ending, 'stored' | 'forks'>,
): readonly string[] {
  const there = new Set(stored.map(keyOf));
  return writes.flatMap((write) => {
    const { outcome, place } = write;
    if (outcome !== 'acknowledged' || place === undefined || there.has(keyOf(write))) return [];
    const fork = forks.find(({ timeline }) => timeline === place.timeline);
    return fork !== undefined && position(place.lsn) < position(fork.lsn) ? [place.transaction] : [];
  });
}
