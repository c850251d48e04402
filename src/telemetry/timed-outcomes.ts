// A counter by outcome and a histogram of durations for each member: probes and dials. Remembers the series of a
// member, to remove them when it leaves the cluster.
import type { Families } from './families.ts';
import type { MemberName } from '../model/member.ts';

/** Seconds. */
export const NETWORK_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.8, 1, 3];

interface TimedOutcomes {
  readonly record: (member: MemberName, outcome: string, durationMs: number) => void;
  /** Drops the series of members that are not in `known`. */
  readonly retain: (known: ReadonlySet<MemberName>) => void;
}

interface OutcomeNames {
  readonly name: string;
  /** Help of the counter and of the histogram. */
  readonly counted: string;
  readonly timed: string;
}

export function createTimedOutcomes(
  { counter, histogram }: Families,
  { name, counted, timed }: OutcomeNames,
): TimedOutcomes {
  const outcomes = counter(`pointsman_${name}s_total`, counted, ['member', 'outcome']);
  const seconds = histogram(`pointsman_${name}_duration_seconds`, timed, NETWORK_BUCKETS, ['member']);
  const seen = new Map<MemberName, Set<string>>();
  return {
    record: (member, outcome, durationMs) => {
      outcomes.inc({ member, outcome });
      seconds.observe({ member }, durationMs / 1000);
      const met = seen.get(member);
      if (met === undefined) seen.set(member, new Set([outcome]));
      else met.add(outcome);
    },
    retain: (known) => {
      for (const [member, met] of seen) {
        if (known.has(member)) continue;
        for (const outcome of met) outcomes.remove({ member, outcome });
        seconds.remove({ member });
        seen.delete(member);
      }
    },
  };
}
