// Timelines that the cluster gave up: their promotion is no part of the history of the last primary.
import type { Ending, LockClaim, Promotion } from '../history.ts';

/** The promotion that began the timeline of a server at a moment. Undefined: it is the first one of the cluster. */
export function beginningOf(
  { server, timeline, atMs }: { readonly server: string; readonly timeline: number; readonly atMs: number },
  promotions: readonly Promotion[],
): Promotion | undefined {
  return promotions
    .filter((one) => one.server === server && one.timeline === timeline && one.begunAtMs <= atMs)
    .toSorted(latestFirst)[0];
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

/** One claim may be an old one, of a Patroni that could not write its log: the next loop reads the lock again. */
const LEAST_CLAIMS = 3;

/**
 * Patroni's own words that it took the lock from a server that it had promoted: until the next promotion another server
 * held it last, for several loops, and had not been promoted since. That server, on its timeline, from its first claim
 * on. Undefined: there are no such words.
 */
export function lockBack(
  promoted: Promotion,
  promotions: readonly Promotion[],
  claims: readonly LockClaim[],
): Promotion | undefined {
  const next = Math.min(...promotions.map(({ begunAtMs }) => begunAtMs).filter((atMs) => atMs > promoted.begunAtMs));
  const during = claims.filter(({ atMs }) => atMs > promoted.atMs && atMs < next);
  const ownUntilMs = Math.max(...during.filter(({ server }) => server === promoted.server).map(({ atMs }) => atMs));
  const others = during.filter(({ server, atMs }) => server !== promoted.server && atMs > ownUntilMs);
  const names = new Set(others.map(({ server }) => server));
  const [server] = names;
  if (server === undefined || names.size > 1 || others.length < LEAST_CLAIMS) return undefined;
  const atMs = Math.min(...during.filter((claim) => claim.server === server).map((claim) => claim.atMs));
  const [own] = promotions.filter((one) => one.server === server && one.begunAtMs < atMs).toSorted(latestFirst);
  return { server, timeline: own?.timeline ?? 1, begunAtMs: atMs, atMs };
}

function latestFirst(a: Promotion, b: Promotion): number {
  return b.begunAtMs - a.begunAtMs;
}
