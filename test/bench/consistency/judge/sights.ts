// The looks of sessions: none sees anything older than before, its own writes included; and no transfer is half done.
import type { Sight } from '../history.ts';

/** A session saw less of a client than before. */
export interface StepBack {
  readonly session: string;
  readonly port: Sight['port'];
  readonly atMs: number;
  readonly client: number;
  readonly before: number;
  readonly after: number;
}

export interface SightReport {
  readonly reads: number;
  readonly sessions: number;
  readonly stepsBack: readonly StepBack[];
  /** Reads in which the sum of all accounts was another one. */
  readonly wrongSums: readonly Sight[];
}

/** `sights`: in the order in which each session had them; an acknowledgement of its own write is one, too. */
export function judgeSights(sights: readonly Sight[], sum: number): SightReport {
  const known = new Map<string, Map<number, number>>();
  const stepsBack: StepBack[] = [];
  for (const { session, port, atMs, seen } of sights) {
    const before = known.get(session) ?? new Map<number, number>();
    known.set(session, before);
    for (const [client, after] of seen) {
      const most = before.get(client) ?? 0;
      if (after < most) stepsBack.push({ session, port, atMs, client, before: most, after });
      before.set(client, Math.max(most, after));
    }
  }
  const reads = sights.filter((sight) => sight.sum !== undefined);
  return { reads: reads.length, sessions: known.size, stepsBack, wrongSums: reads.filter((read) => read.sum !== sum) };
}
