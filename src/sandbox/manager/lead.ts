// The leader's work in each heartbeat besides its lock: it records the WAL position, names the synchronous standbys and
// deletes a switchover that was planned for another leader.
import type { ManagerContext } from './context.ts';
import { chooseSynchronous, isSameSync, publishable, standbyNames } from './synchronous.ts';
import { readTimelineHistory } from './timeline-history.ts';

export async function lead(manager: ManagerContext): Promise<void> {
  const { session, store } = manager;
  const [report, cluster] = [manager.report(), session.cluster()];
  if (report === undefined || cluster === undefined || !session.hasLock()) return;
  store.recordPosition(report.wal.kind === 'primary' ? report.wal.location : report.wal.replayed);
  manager.tellLeads(report.timeline);
  const { switchover } = cluster;
  if (switchover?.from !== undefined && switchover.from !== manager.name) store.writeSwitchover(undefined);
  if (report.isInRecovery) return;
  await keepHistory(manager);
  await keepSynchronous(manager);
}

/** Records a promotion that the store has missed. */
async function keepHistory(manager: ManagerContext): Promise<void> {
  const { session, store, instance, name } = manager;
  const timeline = manager.report()?.timeline ?? 1;
  const known = session.cluster()?.history ?? [];
  if (timeline === 1 || known.at(-1)?.timeline === timeline - 1) return;
  const history = await readTimelineHistory(instance.server, timeline, known, name);
  if (history !== undefined) store.writeHistory(history);
}

async function keepSynchronous(manager: ManagerContext): Promise<void> {
  const { session, store, instance } = manager;
  const [report, cluster] = [manager.report(), session.cluster()];
  if (report === undefined || cluster === undefined) return;
  const wanted = chooseSynchronous(session.settings().synchronousMode, report.replication, cluster);
  const ready = publishable(wanted, report.replication);
  if (!isSameSync(ready, cluster)) store.writeSync(ready);
  manager.setSynchronousStandbyNames(standbyNames(wanted));
  await instance.configure(manager.parameters());
}
