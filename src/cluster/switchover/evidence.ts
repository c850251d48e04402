// The progress of a switchover, as the snapshot and the routing table prove it. Pure.
import { openRoute } from '../../core/routing-table.ts';
import { isDead } from '../../core/snapshot.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { primaryPools } from '../../core/primary-pools.ts';
import type { OwnKnowledge } from './plan.ts';

/** Another member that serves a pool of the primary. */
export function nextPrimary({ policy, table }: OwnKnowledge, from: MemberName): MemberName | undefined {
  return primaryPools(policy)
    .map(({ name }) => openRoute(table, name)?.targets[0].member)
    .find((name) => name !== undefined && name !== from);
}

/** Why the member is the primary no longer; undefined while nothing contradicts it. Silence contradicts nothing. */
export function whyNotPrimary({ policy, snapshot }: OwnKnowledge, name: MemberName): string | undefined {
  const record = snapshot.members.get(name);
  if (record === undefined) return `${name} is no member any more`;
  if (isDead(record)) return `the API and PostgreSQL of ${name} refuse connections`;
  const isPrimary = primaryPools(policy).every(
    ({ check }) => (record.checks.get(check.text)?.verdict.kind ?? 'positive') === 'positive',
  );
  return isPrimary ? undefined : `${name} does not answer as the primary any more`;
}

/** The member stepped down after `since`, and is the primary again. */
export function cameBack({ policy, snapshot }: OwnKnowledge, name: MemberName, since: Instant): boolean {
  const checks = snapshot.members.get(name)?.checks;
  return primaryPools(policy).some(({ check }) => {
    const record = checks?.get(check.text);
    return record?.verdict.kind === 'positive' && record.positiveSince !== undefined && record.positiveSince > since;
  });
}
