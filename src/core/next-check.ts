// Which checks are asked, and which one a member is asked next.
import type { Check } from '../model/check.ts';
import type { Instant } from '../model/instant.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import type { MemberRecord } from './snapshot.ts';

/** The distinct checks of all pools, in the pools' order. */
export function checksOf(policy: RoutingPolicy): readonly Check[] {
  return [...new Map(policy.pools.map((pool) => [pool.check.text, pool.check])).values()];
}

/**
 * The check to ask a member next in a round that began at `roundAt`. Undefined when the round has nothing left to ask.
 *
 * The order: first the `sought` checks, those of exclusive pools without a member, because a member that takes the
 * leader lock should be seen at once. Then the check that the member last said yes to, because that body rules out most
 * others. A sought check is asked once more when the answer to another check reports that the promotion has finished
 * meanwhile.
 */
export function nextCheck(
  policy: RoutingPolicy,
  record: MemberRecord,
  roundAt: Instant,
  sought: ReadonlySet<string>,
): Check | undefined {
  if (record.failure !== undefined && record.failure.at >= roundAt) return undefined;
  if (record.mismatch !== undefined && record.mismatch.at >= roundAt) return undefined;
  const askedAt = (check: Check): Instant => record.checks.get(check.text)?.at ?? -Infinity;
  const isOvertaken = (check: Check): boolean =>
    sought.has(check.text) && record.status?.role === 'primary' && askedAt(check) < (record.answeredAt ?? -Infinity);
  const due = checksOf(policy).filter((check) => askedAt(check) < roundAt || isOvertaken(check));
  return (
    due.find((check) => sought.has(check.text)) ??
    due.find((check) => record.checks.get(check.text)?.verdict.kind === 'positive') ??
    due[0]
  );
}
