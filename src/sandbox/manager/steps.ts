// Carries out the decision of decide.ts. Work that takes longer than a heartbeat runs as the manager's task, so that
// the lock is kept meanwhile. The lock is released only after PostgreSQL has stopped writing.
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerRole } from '../postgres/server-types.ts';
import type { ManagerStep } from './decide.ts';
import { whyNot } from './election.ts';
import { keepHistory, lead } from './lead.ts';
import type { ManagedMember } from './managed-member.ts';
import { positionOf } from './postgres-report.ts';
import { candidates, whyNobodyIsGood } from './switchover-plan.ts';

/**
 * Patroni waits as long before its old leader starts as a replica, so that another member can take the lock (ha.py,
 * demote).
 */
const AFTER_HAND_OVER_MS = 2_000;
const POLL_MS = 25;

export async function carryOut(step: ManagerStep, member: ManagedMember): Promise<void> {
  switch (step.kind) {
    case 'nothing':
      return;
    case 'lead':
      return lead(member);
    case 'start':
      return begin(member, 'start', () => start(member, step.role));
    case 'promote':
      return begin(member, 'promote', () => promote(member));
    case 'follow':
      await member.instance.follow(step.upstream);
      member.tell(
        step.upstream === undefined ? 'follows nobody' : `follows ${step.upstream.host}:${step.upstream.port}`,
      );
      return;
    case 'demote':
      return begin(member, 'demote', () => demote(member, step));
    case 'hand_over':
      return begin(member, 'hand over', () => handOver(member));
    case 'compete':
      return compete(member);
    case 'acquire':
      takeLock(member);
      return;
    case 'release':
      member.tell(`gives the lock back: ${step.why}`);
      member.session.lose('release');
      return;
    case 'rebuild':
      return begin(member, 'reinitialize', () => rebuild(member, step.from));
  }
}

/** Does not wait: the heartbeat goes on. */
function begin(member: ManagedMember, name: string, work: () => Promise<void>): void {
  void member.task.run(name, async () => {
    try {
      await work();
    } catch (error) {
      member.warn(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

async function start(member: ManagedMember, role: ServerRole): Promise<void> {
  const outcome = await member.instance.start(role, member.parameters());
  if (outcome.kind === 'failed') member.warn(`PostgreSQL did not start (${outcome.reason})`);
}

async function promote(member: ManagedMember): Promise<void> {
  const { instance, session } = member;
  try {
    await instance.promote();
  } catch (error) {
    session.lose('release');
    throw error;
  }
  member.tell('promoted');
  const outcome = await instance.report(2_000);
  if (outcome.kind !== 'report') return;
  member.report = outcome.report;
  member.publish();
  member.tellLeads(outcome.report.timeline);
  await keepHistory(member);
}

async function demote(member: ManagedMember, step: Extract<ManagerStep, { kind: 'demote' }>): Promise<void> {
  const { instance, session } = member;
  member.tell(`demotes itself: ${step.why}`);
  // The leader of a standby cluster keeps its lock.
  if (session.settings().standbyCluster === undefined) {
    session.lose('expire');
    instance.demoted();
  }
  member.configuration.synchronousStandbyNames = '';
  await instance.stop(step.mode);
  await start(member, { kind: 'standby', upstream: step.upstream });
}

/** Stops PostgreSQL first: its standbys receive the shutdown checkpoint, so the next leader has all WAL. */
async function handOver(member: ManagedMember): Promise<void> {
  const { instance, session, store } = member;
  const why = await whyNobodyTakesOver(member);
  if (why !== undefined) {
    member.warn(why);
    store.writeSwitchover(undefined);
    return;
  }
  member.tell('hands the lock over');
  member.configuration.synchronousStandbyNames = '';
  // Only the leader of a standby cluster certainly writes nothing.
  if (session.settings().standbyCluster === undefined) {
    await instance.stop('fast');
    instance.demoted();
  }
  session.lose('release');
  await rest(member, AFTER_HAND_OVER_MS);
}

/** Ends early when the member ends. */
async function rest(member: ManagedMember, ms: number): Promise<void> {
  const endsAt = member.clock.now() + ms;
  while (!member.isAbandoned() && member.clock.now() < endsAt) await delay(POLL_MS);
}

/** A candidate from the time of the plan may be gone. */
async function whyNobodyTakesOver(member: ManagedMember): Promise<string | undefined> {
  const { session } = member;
  const cluster = session.cluster();
  if (cluster === undefined) return undefined;
  const to = cluster.switchover?.to;
  const names = to === undefined ? candidates(to, cluster, session.settings()) : [to];
  return whyNobodyIsGood('switchover', await member.askOthers(names))?.text;
}

async function compete(member: ManagedMember): Promise<void> {
  const { session } = member;
  const others = await member.askOthers();
  // Last: a primary without a manager may go on writing, and then each answer shows more WAL than those before it. With
  // an older position of its own, each member would leave the lock to another one.
  const own = await member.ask();
  const cluster = session.cluster();
  if (own.kind !== 'report' || cluster === undefined) return;
  member.report = own.report;
  const why = whyNot({
    me: member.name,
    position: positionOf(own.report.wal),
    tags: member.configuration.tags(),
    settings: session.settings(),
    cluster,
    others,
  });
  if (why === undefined) takeLock(member);
  else member.tell(`leaves the lock to others: ${why}`);
}

function takeLock(member: ManagedMember): void {
  // The member may have died during the questions to the others.
  if (member.isAbandoned() || !member.session.acquire()) return;
  member.tell('has the lock');
  member.publish();
  member.heartbeat.poke();
}

export async function rebuild(member: ManagedMember, from: string): Promise<void> {
  const source = member.serverOf(from);
  if (source === undefined) throw new Error(`there is no server of ${from}`);
  member.tell(`is made again from ${from}`);
  try {
    await member.instance.rebuildFrom(source);
  } catch (error) {
    member.instance.failed();
    throw error;
  }
  await start(member, { kind: 'standby', upstream: member.session.leaderAddress() });
}
