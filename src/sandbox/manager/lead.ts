// The leader's work in each heartbeat besides its lock: it records the WAL position, names the synchronous standbys and
// deletes a switchover that was planned for another leader.
import type { ManagedMember } from './managed-member.ts';
import { chooseSynchronous, isSameSync, publishable, standbyNames } from './synchronous.ts';
import { readTimelineHistory } from './timeline-history.ts';

export async function lead(member: ManagedMember): Promise<void> {
  const { session, store } = member;
  const [report, cluster] = [member.report, session.cluster()];
  if (report === undefined || cluster === undefined || !session.hasLock()) return;
  store.recordPosition(report.wal.kind === 'primary' ? report.wal.location : report.wal.replayed);
  member.tellLeads(report.timeline);
  const { switchover } = cluster;
  if (switchover?.from !== undefined && switchover.from !== member.name) store.writeSwitchover(undefined);
  if (report.isInRecovery) return;
  await keepHistory(member);
  await keepSynchronous(member);
}

/** Records a promotion that the store does not know. */
export async function keepHistory(member: ManagedMember): Promise<void> {
  const { session, store, instance, name } = member;
  const timeline = member.report?.timeline ?? 1;
  const known = session.cluster()?.history ?? [];
  if (timeline === 1 || known.at(-1)?.timeline === timeline - 1) return;
  const history = await readTimelineHistory(instance.server, timeline, known, name);
  if (history !== undefined) store.writeHistory(history);
}

async function keepSynchronous(member: ManagedMember): Promise<void> {
  const { session, store, instance } = member;
  const [report, cluster] = [member.report, session.cluster()];
  if (report === undefined || cluster === undefined) return;
  const wanted = chooseSynchronous(session.settings().synchronousMode, report.replication, cluster);
  const ready = publishable(wanted, report.replication);
  if (!isSameSync(ready, cluster)) store.writeSync(ready);
  member.configuration.synchronousStandbyNames = standbyNames(wanted);
  await instance.configure(member.parameters());
}
