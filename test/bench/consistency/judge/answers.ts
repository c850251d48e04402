// Whether the servers' logs confirm what clients were told: each success has its write and its COMMIT in the log of the
// server that it names, and no statement ran twice, whatever became of its rows.
import { type Commit, type Executed, FIRST_DIRECT_CLIENT, keyOf, type Write } from '../history.ts';

export interface OddAnswer {
  readonly write: Write;
  readonly why: string;
}

/** Successes that no server's log confirms: the answer of another statement, or of nobody. */
export function oddAnswers(
  writes: readonly Write[],
  executed: readonly Executed[],
  commits: readonly Commit[],
): readonly OddAnswer[] {
  const [written, committed] = [byKey(executed), byKey(commits)];
  return writes
    .filter(({ outcome }) => outcome === 'acknowledged')
    .flatMap((write) => {
      const why = whyOdd(write, written.get(keyOf(write)) ?? [], committed.get(keyOf(write)) ?? []);
      return why === undefined ? [] : [{ write, why }];
    });
}

function whyOdd(write: Write, executed: readonly Executed[], commits: readonly Commit[]): string | undefined {
  const { place } = write;
  if (place === undefined) return 'its answer names no place';
  if (keyOf(place) !== keyOf(write)) return `it got the answer for ${place.n} of client ${place.client}`;
  const isThere = ({ server, timeline }: Executed): boolean => server === place.server && timeline === place.timeline;
  if (!executed.some(isThere)) return `no execution in the log of ${place.server}`;
  return commits.some(isThere) ? undefined : `no COMMIT in the log of ${place.server}`;
}

/** The second and later executions of one statement. No client sends a number again. */
export function repeatedIn(executed: readonly Executed[]): readonly Executed[] {
  const throughPointsman = executed.filter(({ client }) => client < FIRST_DIRECT_CLIENT);
  return [...byKey(throughPointsman).values()].flatMap((all) => all.slice(1));
}

function byKey<T extends Executed>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const grouped = new Map<string, T[]>();
  for (const one of all) {
    const others = grouped.get(keyOf(one));
    if (others === undefined) grouped.set(keyOf(one), [one]);
    else others.push(one);
  }
  return grouped;
}
