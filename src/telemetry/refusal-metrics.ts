// Logins that members refused, by SQLSTATE.
import type { Families } from './families.ts';
import { REFUSAL_LABELS } from '../core/refusal-words.ts';
import type { MemberName } from '../model/member.ts';

export interface RefusalMetrics {
  /** Every series of a member starts at 0, so that its first increase is visible. */
  readonly learn: (members: readonly MemberName[]) => void;
  readonly record: (member: MemberName, sqlstate: string) => void;
  /** Drops the series of members that are not in `known`. */
  readonly retain: (known: ReadonlySet<MemberName>) => void;
}

const seriesOf = (member: MemberName) => REFUSAL_LABELS.map((sqlstate) => ({ member, sqlstate }));

export function createRefusalMetrics({ counter }: Families): RefusalMetrics {
  const total = counter(
    'pointsman_backend_refused_total',
    'Logins that a member refused, by SQLSTATE (none: it closed without an error). Some were served elsewhere.',
    ['member', 'sqlstate'],
  );
  const seen = new Set<MemberName>();
  return {
    learn: (members) => {
      for (const member of members) {
        if (!seen.has(member)) for (const labels of seriesOf(member)) total.inc(labels, 0);
        seen.add(member);
      }
    },
    record: (member, sqlstate) => {
      seen.add(member);
      total.inc({ member, sqlstate });
    },
    retain: (known) => {
      for (const member of seen) {
        if (known.has(member)) continue;
        for (const labels of seriesOf(member)) total.remove(labels);
        seen.delete(member);
      }
    },
  };
}
