// Timelines that the cluster gave up: their promotion is no part of the history of the last primary.
import type { Ending, Promotion } from '../history.ts';

/** The reason, for people. Undefined: it is a part of the history, or that is not certain. */
export function whyGivenUp(
  { timeline, server }: Pick<Promotion, 'timeline' | 'server'>,
  promotions: readonly Promotion[],
  ending: Ending,
): string | undefined {
  const line = [...ending.forks.map((fork) => fork.timeline), ending.timeline];
  if (!line.includes(timeline)) return `the history is ${line.join(', ')}`;
  // Two servers may give the same number to different timelines.
  const begunBy = (name: string): boolean => promotions.some((one) => one.timeline === timeline && one.server === name);
  const [writer, ...more] = ending.writers.get(timeline) ?? [];
  if (writer === undefined || more.length > 0 || writer === server) return undefined;
  return begunBy(server) && begunBy(writer) ? `the history has another timeline ${timeline}, of ${writer}` : undefined;
}
