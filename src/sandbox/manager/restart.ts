// Restarts a member's PostgreSQL on request, now or at a given time. The role stays, and a leader keeps its lock.
import type { ServerRole } from '../postgres/server-interface.ts';
import type { ManagerContext } from './context.ts';
import type { OperationOutcome } from './operation-outcomes.ts';
import { judgeSchedule, whyNoRestart } from './restart-conditions.ts';
import type { RestartConditions } from './view.ts';

export async function restart(manager: ManagerContext, conditions: RestartConditions): Promise<OperationOutcome> {
  const why = whyNoRestart(conditions, await manager.look());
  if (why !== undefined) return { kind: 'refused', text: `restart conditions are not satisfied: ${why}` };
  const restarting = manager.runAlone('restart', () => stopAndStart(manager, conditions.timeoutSeconds));
  return (await restarting) ?? { kind: 'failed', text: `${manager.task() ?? 'another task'} already in progress` };
}

async function stopAndStart(manager: ManagerContext, timeoutSeconds: number | undefined): Promise<OperationOutcome> {
  const { instance } = manager;
  const role = roleToStart(manager);
  const timeoutMs = timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
  let outcome;
  try {
    await instance.stop('fast', 'restarting');
    outcome = await instance.start(role, manager.parameters(), timeoutMs);
  } catch (error) {
    manager.warn(`restart failed: ${String(error)}`);
    return { kind: 'failed', text: 'restart failed' };
  }
  if (outcome.kind === 'started') return { kind: 'done', text: 'restarted successfully' };
  return { kind: 'failed', text: outcome.reason === 'timeout' ? 'postgres is still starting' : 'restart failed' };
}

/** A primary that crashed while the cluster was paused may have a successor by now. */
function roleToStart({ name, instance, session }: ManagerContext): ServerRole {
  session.read();
  const { leader = name } = session.cluster() ?? {};
  if (instance.role() === 'primary' && leader === name) return { kind: 'primary' };
  return { kind: 'standby', upstream: instance.upstream() ?? session.leaderAddress() };
}

/** Only one restart can be scheduled. */
export async function scheduleRestart(
  manager: ManagerContext,
  conditions: RestartConditions,
  schedule: string,
): Promise<OperationOutcome> {
  const { postmasterStartTime } = await manager.look();
  if (manager.scheduledRestart() !== undefined) {
    return { kind: 'already_scheduled', text: 'Another restart is already scheduled' };
  }
  manager.setScheduledRestart({ ...conditions, schedule, postmasterStartTime });
  manager.publish();
  manager.heartbeat.poke();
  return { kind: 'accepted', text: 'Restart scheduled' };
}

export function cancelRestart(manager: ManagerContext): OperationOutcome {
  if (manager.scheduledRestart() === undefined) return { kind: 'nothing_scheduled', text: 'no restarts are scheduled' };
  manager.setScheduledRestart(undefined);
  manager.publish();
  return { kind: 'done', text: 'scheduled restart deleted' };
}

/** Part of every heartbeat. */
export function runScheduledRestart(manager: ManagerContext): void {
  const scheduledRestart = manager.scheduledRestart();
  // After the current task a later beat comes back to it.
  if (scheduledRestart === undefined || manager.task() !== undefined) return;
  const verdict = judgeSchedule(scheduledRestart, manager.report()?.postmasterStartTime, new Date());
  if (verdict === 'wait') return;
  manager.setScheduledRestart(undefined);
  if (verdict === 'void') {
    manager.tell('forgets the scheduled restart: PostgreSQL was restarted since');
    return;
  }
  void restartAsScheduled(manager, scheduledRestart);
}

async function restartAsScheduled(manager: ManagerContext, conditions: RestartConditions): Promise<void> {
  const { kind, text } = await restart(manager, conditions);
  if (kind === 'failed') manager.warn(`scheduled restart: ${text}`);
  else manager.tell(`scheduled restart: ${text}`);
}
