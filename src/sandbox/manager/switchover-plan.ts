// Decides when a planned switchover is due, and whether a requested switchover or failover is possible. Pure. The texts
// are Patroni's.
import type { PeerAnswer } from './election.ts';
import type { ManagerOutcome, SwitchoverRequest } from './operation-outcomes.ts';
import type { ClusterSettings, ClusterView, SwitchoverRecord } from './view.ts';

/** Infinity for a missing time. Milliseconds. */
export function msUntil(at: string | undefined, now: Date): number {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time - now.getTime();
}

export function isDue({ at }: SwitchoverRecord, now: Date): boolean {
  return at === undefined || msUntil(at, now) <= 0;
}

/** The reason against it that is known without a query to other members; undefined when there is none. */
export function whyNoSwitchover(
  { leader, candidate, scheduledAt }: SwitchoverRequest,
  cluster: ClusterView,
  settings: ClusterSettings,
): ManagerOutcome | undefined {
  if (settings.isPaused && scheduledAt !== undefined)
    return { kind: 'paused', text: "Can't schedule switchover in the paused state" };
  if (settings.isPaused && candidate === undefined) {
    return { kind: 'paused', text: 'Switchover is possible only to a specific candidate in a paused state' };
  }
  if (leader === candidate) return { kind: 'invalid', text: 'Switchover target and source are the same' };
  if (cluster.leader !== leader) {
    return refused(cluster.leader === undefined ? 'cluster has no leader' : 'leader name does not match');
  }
  if (candidates(candidate, cluster, settings).length > 0) return undefined;
  if (candidate === undefined) {
    const lacking = settings.synchronousMode === 'off' ? 'members except leader' : 'synchronous standbys';
    return refused(`switchover is not possible: cluster does not have ${lacking}`);
  }
  const exists = cluster.members.some(({ name }) => name === candidate);
  return refused(exists ? 'candidate name does not match with sync_standby' : 'candidate does not exist');
}

export function whyNoFailover(candidate: string, cluster: ClusterView): ManagerOutcome | undefined {
  if (cluster.leader === candidate) return refused('candidate is the leader already');
  return cluster.members.some(({ name }) => name === candidate) ? undefined : refused('candidate does not exist');
}

/** The members that could take over. In synchronous mode these are the synchronous standbys only. */
export function candidates(
  candidate: string | undefined,
  cluster: ClusterView,
  settings: ClusterSettings,
): readonly string[] {
  const isSafe = (name: string): boolean =>
    settings.synchronousMode === 'off' || cluster.synchronous.includes(name) || cluster.quorum.includes(name);
  return cluster.members
    .map(({ name }) => name)
    .filter((name) => name !== cluster.leader && (candidate === undefined || name === candidate) && isSafe(name));
}

/** At least one of the queried members must have a PostgreSQL that answers, and no tag nofailover. */
export function whyNobodyIsGood(action: string, answers: readonly PeerAnswer[]): ManagerOutcome | undefined {
  const isGood = answers.some(
    (answer) => answer.kind === 'answered' && !answer.isNoFailover && answer.position !== undefined,
  );
  return isGood ? undefined : refused(`${action} is not possible: no good candidates have been found`);
}

export function refused(text: string): ManagerOutcome {
  return { kind: 'refused', text };
}
