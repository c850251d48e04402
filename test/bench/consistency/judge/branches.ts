// Timelines that the cluster gave up: their promotion is no part of the history of the last primary.
import type { Ending, LockClaim, Promotion } from '../history.ts';

/** The promotion that began the timeline of a server at a moment. Undefined: it is the first one of the cluster. */
export function beginningOf(
  { server, timeline, atMs }: { readonly server: string; readonly timeline: number; readonly atMs: number },
  promotions: readonly Promotion[],
): Promotion | undefined {
  return promotions
    .filter((one) => one.server === server && one.timeline === timeline && one.begunAtMs <= atMs)
    .toSorted((a, b) => b.begunAtMs - a.begunAtMs)[0];
}

/** The reason, for people. Undefined: it is a part of the history, or that is not certain. */
export function whyGivenUp(
  { timeline, server, begunAtMs }: Promotion,
  promotions: readonly Promotion[],
  ending: Ending,
): string | undefined {
  const line = [...ending.forks.map((fork) => fork.timeline), ending.timeline];
  if (!line.includes(timeline)) return `the history is ${line.join(', ')}`;
  // A number may be given to several timelines, by one server too: it takes the next one above those that it knows.
  const same = promotions.filter((one) => one.timeline === timeline);
  if (same.some((one) => one.server === server && one.begunAtMs > begunAtMs)) {
    return `${server} began another timeline ${timeline} later`;
  }
  const [writer, ...more] = ending.writers.get(timeline) ?? [];
  if (writer === undefined || more.length > 0 || writer === server) return undefined;
  const isBegun = same.some((one) => one.server === writer);
  return isBegun ? `the history has another timeline ${timeline}, of ${writer}` : undefined;
}

/**
 * Patroni's own words that it took the lock from the server that it had promoted: another server held it afterwards,
 * and had not been promoted since. Undefined: there are no such words.
 */
export function lockBack(
  promoted: Promotion,
  promotions: readonly Promotion[],
  claims: readonly LockClaim[],
): string | undefined {
  const next = claims
    .filter(({ server, atMs }) => server !== promoted.server && atMs > promoted.atMs)
    .toSorted((a, b) => a.atMs - b.atMs)[0];
  if (next === undefined) return undefined;
  const isPromoted = promotions.some(
    ({ server, begunAtMs }) => server === next.server && begunAtMs > promoted.begunAtMs && begunAtMs < next.atMs,
  );
  const afterMs = next.atMs - promoted.atMs;
  return isPromoted ? undefined : `Patroni of ${next.server} held the lock ${afterMs} ms later without a promotion`;
}
