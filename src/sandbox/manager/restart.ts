// Restarts a member's PostgreSQL on request, now or at a given time. The role stays, and a leader keeps its lock.
import type { ServerRole } from '../postgres/server-types.ts';
import type { ManagedMember } from './managed-member.ts';
import type { ManagerOutcome } from './operation-outcomes.ts';
import { judgeSchedule, whyNoRestart } from './restart-conditions.ts';
import type { RestartGuards } from './view.ts';

export async function restart(member: ManagedMember, conditions: RestartGuards): Promise<ManagerOutcome> {
  const why = whyNoRestart(conditions, await member.look());
  if (why !== undefined) return { kind: 'refused', text: `restart conditions are not satisfied: ${why}` };
  const restarting = member.task.run('restart', () => stopAndStart(member, conditions.timeout));
  return (await restarting) ?? { kind: 'failed', text: `${member.task.name() ?? 'another task'} already in progress` };
}

async function stopAndStart(member: ManagedMember, timeoutSeconds: number | undefined): Promise<ManagerOutcome> {
  const { instance } = member;
  const role = roleToStart(member);
  const timeoutMs = timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
  let outcome;
  try {
    await instance.stop('fast', 'restarting');
    outcome = await instance.start(role, member.parameters(), timeoutMs);
  } catch (error) {
    member.warn(`restart failed: ${String(error)}`);
    return { kind: 'failed', text: 'restart failed' };
  }
  if (outcome.kind === 'started') return { kind: 'done', text: 'restarted successfully' };
  if (outcome.reason === 'timeout') return { kind: 'failed', text: 'postgres is still starting' };
  member.warn(`restart failed: ${outcome.log}`);
  return { kind: 'failed', text: 'restart failed' };
}

/** A primary that crashed while the cluster was paused may have a successor by now. */
function roleToStart({ name, instance, session }: ManagedMember): ServerRole {
  session.read();
  const { leader = name } = session.cluster() ?? {};
  if (instance.role() === 'primary' && leader === name) return { kind: 'primary' };
  return { kind: 'standby', upstream: instance.upstream() ?? session.leaderAddress() };
}

/** Only one restart can be scheduled. */
export async function scheduleRestart(
  member: ManagedMember,
  conditions: RestartGuards,
  schedule: string,
): Promise<ManagerOutcome> {
  const { postmasterStartTime } = await member.look();
  if (member.scheduledRestart !== undefined) {
    return { kind: 'already_scheduled', text: 'Another restart is already scheduled' };
  }
  member.scheduledRestart = { ...conditions, schedule, postmaster_start_time: postmasterStartTime };
  member.publish();
  member.heartbeat.poke();
  return { kind: 'accepted', text: 'Restart scheduled' };
}

export function cancelRestart(member: ManagedMember): ManagerOutcome {
  if (member.scheduledRestart === undefined) return { kind: 'nothing_scheduled', text: 'no restarts are scheduled' };
  member.scheduledRestart = undefined;
  member.publish();
  return { kind: 'done', text: 'scheduled restart deleted' };
}

/** Part of every heartbeat. */
export function runScheduledRestart(member: ManagedMember): void {
  const scheduledRestart = member.scheduledRestart;
  // After the current task a later beat comes back to it.
  if (scheduledRestart === undefined || member.task.name() !== undefined) return;
  const verdict = judgeSchedule(scheduledRestart, member.report?.postmasterStartTime, new Date());
  if (verdict === 'wait') return;
  member.scheduledRestart = undefined;
  if (verdict === 'void') {
    member.tell('forgets the scheduled restart: PostgreSQL was restarted since');
    return;
  }
  void restartAsScheduled(member, scheduledRestart);
}

async function restartAsScheduled(member: ManagedMember, conditions: RestartGuards): Promise<void> {
  const { kind, text } = await restart(member, conditions);
  if (kind === 'failed') member.warn(`scheduled restart: ${text}`);
  else member.tell(`scheduled restart: ${text}`);
}
