// Acknowledged writes that are not there at the end, and the proof of the cause of each.
import { type Ending, type Executed, type History, keyOf, type Place, type Promotion, type Write } from '../history.ts';
import { beginningOf, lockBack, whyGivenUp } from './branches.ts';
import { position } from './positions.ts';

export type Cause =
  /** It was written behind the point where the next timeline forked: no replica that was promoted had it. */
  | 'behind the fork'
  /** The fork is between its insert and the record of its commit. */
  | 'commit behind the fork'
  /** Its whole timeline is no part of the history: another server was promoted that did not have it. */
  | 'timeline given up'
  /** The same, and Patroni's own log says that another server held the lock without being promoted since. */
  | 'lock taken back'
  /** PostgreSQL's replication does not explain it. */
  | 'unexplained';

export interface Loss {
  readonly write: Write;
  readonly cause: Cause;
  /** The facts, for people. */
  readonly proof: string;
}

type Facts = Pick<History, 'promotions' | 'claims' | 'executed' | 'commits' | 'ending'>;

export function lossesOf(writes: readonly Write[], facts: Facts): readonly Loss[] {
  const stored = new Set(facts.ending.stored.map(keyOf));
  return writes
    .filter((write) => write.outcome === 'acknowledged' && !stored.has(keyOf(write)))
    .map((write) => ({ write, ...causeOf(write, facts) }));
}

function causeOf({ place, endedAtMs }: Write, facts: Facts): Omit<Loss, 'write'> {
  const { promotions, claims, ending } = facts;
  if (place === undefined) return { cause: 'unexplained', proof: 'the client does not know where it was written' };
  const { timeline, forks, fates } = ending;
  const written = `written at ${place.lsn} of timeline ${place.timeline}`;
  const atMs = lineOf(place, facts.executed)?.atMs ?? endedAtMs;
  const begun = beginningOf({ ...place, atMs }, promotions);
  const givenUp = begun && whyGivenUp(begun, promotions, ending);
  if (begun !== undefined && givenUp !== undefined) {
    const back = lockBack(begun, promotions, claims);
    const proof = `${written} by ${place.server}; ${givenUp}`;
    if (back === undefined) return withoutIt(begun, promotions, proof);
    const held = `Patroni of ${back.server} held the lock ${back.atMs - begun.atMs} ms later without a promotion`;
    return { cause: 'lock taken back', proof: `${proof}; ${held}` };
  }
  if (place.timeline === timeline) return { cause: 'unexplained', proof: `${written}, which is the last one` };
  const fork = forks.find((one) => one.timeline === place.timeline);
  if (fork === undefined) return { cause: 'unexplained', proof: written };
  if (!isOwner(place, promotions, ending)) {
    return {
      cause: 'unexplained',
      proof: `${written} by ${place.server}, which may have another timeline of the number`,
    };
  }
  const forked = `the history leaves timeline ${place.timeline} at ${fork.lsn}`;
  if (position(place.lsn) >= position(fork.lsn)) return { cause: 'behind the fork', proof: `${written}; ${forked}` };
  const committed = lineOf(place, facts.commits);
  if (committed !== undefined && position(committed.lsn) >= position(fork.lsn)) {
    return { cause: 'commit behind the fork', proof: `${written}; its COMMIT at ${committed.lsn}; ${forked}` };
  }
  const fate = fates.get(place.transaction) ?? 'unknown';
  const asked = `transaction ${place.transaction} is ${fate} at the last primary`;
  return {
    cause: isUnknownThere(fate) ? 'commit behind the fork' : 'unexplained',
    proof: `${written}; ${forked}; ${asked}`,
  };
}

/** The server that was promoted next is the proof: it had not got the timeline. */
function withoutIt(begun: Promotion, promotions: readonly Promotion[], proof: string): Omit<Loss, 'write'> {
  const later = promotions.filter(({ begunAtMs }) => begunAtMs > begun.begunAtMs);
  const [next] = later.toSorted((a, b) => a.begunAtMs - b.begunAtMs);
  if (next === undefined) return { cause: 'unexplained', proof };
  const promoted = `${next.server} was promoted to ${next.timeline} ${next.begunAtMs - begun.begunAtMs} ms later`;
  return { cause: 'timeline given up', proof: `${proof}; ${promoted} without it` };
}

/** `aborted`: begun before the fork and never committed. In the future: not even begun. */
function isUnknownThere(fate: string): boolean {
  return fate === 'aborted' || /transaction ID .* is in the future/.test(fate);
}

/** Two servers may give the same number to different timelines; positions of one say nothing about the other. */
function isOwner({ server, timeline }: Place, promotions: readonly Promotion[], { writers }: Ending): boolean {
  const rivals = promotions.filter((one) => one.timeline === timeline && one.server !== server);
  const there = writers.get(timeline) ?? [];
  return rivals.length === 0 || (there.length === 1 && there[0] === server);
}

function lineOf<T extends Executed>(place: Place, log: readonly T[]): T | undefined {
  return log.find(
    (one) => keyOf(one) === keyOf(place) && one.server === place.server && one.timeline === place.timeline,
  );
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
