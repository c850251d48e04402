// Carries out the decision of decide.ts. Work that takes longer than a heartbeat runs as the manager's task, so that
// the lock is kept meanwhile. The lock is released only after PostgreSQL has stopped writing.
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerRole } from '../postgres/server-interface.ts';
import type { Step } from './decide.ts';
import { whyNot } from './election.ts';
import { lead } from './lead.ts';
import type { ManagerContext } from './context.ts';
import { positionOf } from './postgres-report.ts';
import { candidates, whyNobodyIsGood } from './switchover-plan.ts';
import { readTimelineHistory } from './timeline-history.ts';

/**
 * Patroni waits as long before its old leader starts as a replica, so that another member can take the lock (ha.py,
 * demote).
 */
const AFTER_HAND_OVER_MS = 2_000;
const POLL_MS = 25;

export async function carryOut(step: Step, manager: ManagerContext): Promise<void> {
  switch (step.kind) {
    case 'nothing':
      return;
    case 'lead':
      return lead(manager);
    case 'start':
      return begin(manager, 'start', () => start(manager, step.role));
    case 'promote':
      return begin(manager, 'promote', () => promote(manager));
    case 'follow':
      await manager.instance.follow(step.upstream);
      manager.tell(
        step.upstream === undefined ? 'follows nobody' : `follows ${step.upstream.host}:${step.upstream.port}`,
      );
      return;
    case 'demote':
      return begin(manager, 'demote', () => demote(manager, step));
    case 'hand_over':
      return begin(manager, 'hand over', () => handOver(manager));
    case 'compete':
      return compete(manager);
    case 'acquire':
      takeLock(manager);
      return;
    case 'release':
      manager.tell(`gives the lock back: ${step.why}`);
      manager.session.lose('release');
      return;
    case 'rebuild':
      return begin(manager, 'reinitialize', () => rebuild(manager, step.from));
  }
}

/** Does not wait: the heartbeat goes on. */
function begin(manager: ManagerContext, name: string, work: () => Promise<void>): void {
  void manager.runAlone(name, async () => {
    try {
      await work();
    } catch (error) {
      manager.warn(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

async function start(manager: ManagerContext, role: ServerRole): Promise<void> {
  const outcome = await manager.instance.start(role, manager.parameters());
  if (outcome.kind === 'failed') manager.warn(`PostgreSQL did not start (${outcome.reason})`);
}

async function promote(manager: ManagerContext): Promise<void> {
  const { instance, session, store } = manager;
  try {
    await instance.promote();
  } catch (error) {
    session.lose('release');
    throw error;
  }
  manager.tell('promoted');
  const outcome = await instance.report(2_000);
  if (outcome.kind !== 'report') return;
  manager.reported(outcome.report);
  manager.publish();
  manager.tellLeads(outcome.report.timeline);
  const known = session.cluster()?.history ?? [];
  const history = await readTimelineHistory(instance.server, outcome.report.timeline, known, manager.name);
  if (history !== undefined) store.writeHistory(history);
}

async function demote(manager: ManagerContext, step: Extract<Step, { kind: 'demote' }>): Promise<void> {
  const { instance, session } = manager;
  manager.tell(`demotes itself: ${step.why}`);
  // The leader of a standby cluster keeps its lock.
  if (session.settings().standbyCluster === undefined) {
    session.lose('expire');
    instance.demoted();
  }
  manager.setSynchronousStandbyNames('');
  await instance.stop(step.mode);
  await start(manager, { kind: 'standby', upstream: step.upstream });
}

/** Stops PostgreSQL first: its standbys receive the shutdown checkpoint, so the next leader has all WAL. */
async function handOver(manager: ManagerContext): Promise<void> {
  const { instance, session, store } = manager;
  const why = await whyNobodyTakesOver(manager);
  if (why !== undefined) {
    manager.warn(why);
    store.writeSwitchover(undefined);
    return;
  }
  manager.tell('hands the lock over');
  manager.setSynchronousStandbyNames('');
  // Only the leader of a standby cluster certainly writes nothing.
  if (session.settings().standbyCluster === undefined) {
    await instance.stop('fast');
    instance.demoted();
  }
  session.lose('release');
  await rest(manager, AFTER_HAND_OVER_MS);
}

/** Ends early when the member ends. */
async function rest(manager: ManagerContext, ms: number): Promise<void> {
  const endsAt = manager.clock.now() + ms;
  while (!manager.isAbandoned() && manager.clock.now() < endsAt) await delay(POLL_MS);
}

/** A candidate from the time of the plan may be gone. */
async function whyNobodyTakesOver(manager: ManagerContext): Promise<string | undefined> {
  const { session } = manager;
  const cluster = session.cluster();
  if (cluster === undefined) return undefined;
  const to = cluster.switchover?.to;
  const names = to === undefined ? candidates(to, cluster, session.settings()) : [to];
  return whyNobodyIsGood('switchover', await manager.askOthers(names))?.text;
}

async function compete(manager: ManagerContext): Promise<void> {
  const { session } = manager;
  const others = await manager.askOthers();
  const [report, cluster] = [manager.report(), session.cluster()];
  if (report === undefined || cluster === undefined) return;
  const why = whyNot({
    me: manager.name,
    position: positionOf(report.wal),
    tags: manager.tags(),
    settings: session.settings(),
    cluster,
    others,
  });
  if (why === undefined) takeLock(manager);
  else manager.tell(`leaves the lock to others: ${why}`);
}

function takeLock(manager: ManagerContext): void {
  // The member may have died during the questions to the others.
  if (manager.isAbandoned() || !manager.session.acquire()) return;
  manager.tell('has the lock');
  manager.publish();
  manager.heartbeat.poke();
}

export async function rebuild(manager: ManagerContext, from: string): Promise<void> {
  const source = manager.serverOf(from);
  if (source === undefined) throw new Error(`there is no server of ${from}`);
  manager.tell(`is made again from ${from}`);
  try {
    await manager.instance.rebuildFrom(source);
  } catch (error) {
    manager.instance.failed();
    throw error;
  }
  await start(manager, { kind: 'standby', upstream: manager.session.leaderAddress() });
}
