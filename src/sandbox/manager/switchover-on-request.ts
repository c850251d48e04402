// Switchover and failover on request: the request goes into the store, the leader or the candidate carries it out in
// its heartbeat, and the member that received the request waits here for the outcome.
import { setTimeout as delay } from 'node:timers/promises';
import { isNoFailover } from './election.ts';
import { positionOf } from './postgres-report.ts';
import type { ManagedMember } from './managed-member.ts';
import type { ManagerOutcome, SwitchoverRequest } from './operation-outcomes.ts';
import { candidates, whyNobodyIsGood, whyNoFailover, whyNoSwitchover } from './switchover-plan.ts';

export const NO_STORE = { kind: 'failed', text: 'the configuration store does not answer' } as const;
const ASK_AGAIN_MS = 25;
const MIN_WAIT_MS = 10_000;

export async function switchover(member: ManagedMember, request: SwitchoverRequest): Promise<ManagerOutcome> {
  const { session, store } = member;
  const { leader, candidate, scheduledAt } = request;
  const cluster = session.read();
  if (cluster === undefined) return NO_STORE;
  const why = whyNoSwitchover(request, cluster, session.settings());
  if (why !== undefined) return why;
  if (scheduledAt !== undefined) {
    const isWritten = store.writeSwitchover({ from: leader, to: candidate, at: scheduledAt });
    return isWritten ? { kind: 'accepted', text: 'Switchover scheduled' } : NO_STORE;
  }
  const whyNot = await askCandidates(member, 'switchover', candidates(candidate, cluster, session.settings()));
  if (whyNot !== undefined) return whyNot;
  if (!store.writeSwitchover({ from: leader, to: candidate, at: undefined })) return NO_STORE;
  return waitForLeader(member, { action: 'Switch', leader, candidate });
}

export async function failover(member: ManagedMember, candidate: string): Promise<ManagerOutcome> {
  const { session, store } = member;
  const cluster = session.read();
  if (cluster === undefined) return NO_STORE;
  const why = whyNoFailover(candidate, cluster) ?? (await askCandidates(member, 'failover', [candidate]));
  if (why !== undefined) return why;
  if (!store.writeSwitchover({ from: undefined, to: candidate, at: undefined })) return NO_STORE;
  return waitForLeader(member, { action: 'Fail', leader: cluster.leader, candidate });
}

export function cancelSwitchover({ session, store }: ManagedMember): ManagerOutcome {
  const cluster = session.read();
  if (cluster === undefined) return NO_STORE;
  if (cluster.switchover?.at === undefined) {
    return { kind: 'nothing_scheduled', text: 'no switchover is scheduled' };
  }
  return store.writeSwitchover(undefined) ? { kind: 'done', text: 'scheduled switchover deleted' } : NO_STORE;
}

async function askCandidates(
  member: ManagedMember,
  action: string,
  names: readonly string[],
): Promise<ManagerOutcome | undefined> {
  const answers = [...(await member.askOthers(names))];
  if (names.includes(member.name)) {
    const { wal, tags } = await member.look();
    // The member itself is not queried over HTTP.
    const position = wal && positionOf(wal);
    answers.push({ name: member.name, kind: 'answered', isPrimary: false, position, isNoFailover: isNoFailover(tags) });
  }
  return whyNobodyIsGood(action, answers);
}

interface Change {
  readonly action: 'Switch' | 'Fail';
  /** The previous leader. */
  readonly leader: string | undefined;
  readonly candidate: string | undefined;
}

async function waitForLeader(member: ManagedMember, change: Change): Promise<ManagerOutcome> {
  const { store, clock } = member;
  const endsAt = clock.now() + Math.max(MIN_WAIT_MS, 2 * member.session.settings().ttlMs);
  while (clock.now() < endsAt) {
    const outcome = judge(member, change);
    if (outcome !== undefined) return outcome;
    await delay(ASK_AGAIN_MS);
  }
  store.writeSwitchover(undefined);
  return { kind: 'failed', text: `${change.action}over status unknown` };
}

/** The new leader removes the request from the store. Undefined while it is pending. */
function judge({ store }: ManagedMember, { action, leader, candidate }: Change): ManagerOutcome | undefined {
  const cluster = store.read();
  if (cluster === undefined || cluster.switchover !== undefined || cluster.leader === undefined) return undefined;
  if (cluster.leader === leader) return { kind: 'failed', text: `${action}over failed` };
  const member = cluster.members.find(({ name }) => name === cluster.leader);
  if (member?.role !== 'primary' && member?.role !== 'standby_leader') return undefined;
  const isOther = candidate !== undefined && candidate !== cluster.leader;
  const word = action === 'Fail' ? 'failed' : 'switched';
  const text = isOther
    ? `${action}ed over to "${cluster.leader}" instead of "${candidate}"`
    : `Successfully ${word} over to "${cluster.leader}"`;
  return { kind: 'done', text };
}
