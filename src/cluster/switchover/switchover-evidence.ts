// The progress of a switchover, as the snapshot and the routing table prove it. Pure.
import { openRoute } from '../../core/routing-table.ts';
import { isDead } from '../../core/snapshot.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { primaryPools } from '../../core/primary-pools.ts';
import { isUndecided } from '../operation-words.ts';
import type { OwnKnowledge } from './plan.ts';
import type { OperationResult } from '../../documents/cluster-documents.ts';

/** Patroni acts on a request at once; a busy one takes a second or two. Milliseconds. */
const SETTLED_MS = 5_000;

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

/**
 * The member is the primary again. `steppedDown`: when it was first seen not to be. Undefined: it never was. A gap
 * between two answers, as on a busy machine, is no such sight.
 */
export function cameBack(own: OwnKnowledge, name: MemberName, steppedDown: Instant | undefined): boolean {
  const since = primarySince(own, name);
  return steppedDown !== undefined && since !== undefined && since > steppedDown;
}

/**
 * The member said nothing for a while after `requestedAt`, and has answered as the primary for some time since: it
 * would have stepped down by now.
 */
export function stayedPrimary(own: OwnKnowledge, name: MemberName, requestedAt: Instant, now: Instant): boolean {
  const since = primarySince(own, name);
  return since !== undefined && since > requestedAt && now - since >= SETTLED_MS;
}

/** Without a gap, in the pool in which that began last. Undefined: it is not the primary in any pool. */
function primarySince({ policy, snapshot }: OwnKnowledge, name: MemberName): Instant | undefined {
  const checks = snapshot.members.get(name)?.checks;
  const since = primaryPools(policy).flatMap(({ check }) => {
    const record = checks?.get(check.text);
    return record?.verdict.kind === 'positive' ? (record.positiveSince ?? []) : [];
  });
  return since.length === 0 ? undefined : Math.max(...since);
}

/** Why a request to switch is pointless now, before it is sent. `to`: the member that was asked for. */
export function whyPointless(own: OwnKnowledge, from: MemberName, to: MemberName | undefined): string | undefined {
  const next = nextPrimary(own, from);
  if (next !== undefined) return `${next} became the primary before the request was sent`;
  const lost = whyNotPrimary(own, from);
  if (lost !== undefined) return `${lost}; no request was sent`;
  const candidate = to === undefined ? undefined : own.snapshot.members.get(to);
  const isDown = to !== undefined && (candidate === undefined || isDead(candidate));
  return isDown ? `${to} went down; no request was sent` : undefined;
}

/** The cluster did not take the request, so the primary stays. */
export function isRefusal(answer: OperationResult): boolean {
  if (answer.kind === 'no_answer') return !answer.may_have_happened;
  if (answer.kind === 'failed') return !isUndecided(answer);
  return answer.kind !== 'done' && answer.kind !== 'scheduled';
}
