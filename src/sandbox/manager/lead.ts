// What a leader does in each heartbeat besides keeping its lock: how far the WAL is, which standbys a commit waits for, and no plan that
// was made for another leader.
import type { Manager } from './manager.ts';
import { chooseSynchronous, isSameSync, publishable, standbyNames } from './synchronous.ts';
import { readTimelineHistory } from './timeline-history.ts';

export async function lead(manager: Manager): Promise<void> {
  const { report, session, store } = manager;
  const cluster = session.cluster();
  if (report === undefined || cluster === undefined || !session.hasLock()) return;
  store.recordPosition(report.wal.kind === 'primary' ? report.wal.location : report.wal.replayed);
  manager.tellLeads(report.timeline);
  const { switchover } = cluster;
  if (switchover?.from !== undefined && switchover.from !== manager.name) store.writeSwitchover(undefined);
  if (report.isInRecovery) return;
  await keepHistory(manager);
  await keepSynchronous(manager);
}

/** A promotion that the store did not hear of. */
async function keepHistory({ report, session, store, instance, name }: Manager): Promise<void> {
  const timeline = report?.timeline ?? 1;
  const known = session.cluster()?.history ?? [];
  if (timeline === 1 || known.at(-1)?.timeline === timeline - 1) return;
  const history = await readTimelineHistory(instance.server, timeline, known, name);
  if (history !== undefined) store.writeHistory(history);
}

async function keepSynchronous(manager: Manager): Promise<void> {
  const { report, session, store, instance } = manager;
  const cluster = session.cluster();
  if (report === undefined || cluster === undefined) return;
  const wanted = chooseSynchronous(session.settings().synchronousMode, report.replication, cluster);
  const ready = publishable(wanted, report.replication);
  if (!isSameSync(ready, cluster)) store.writeSync(ready);
  manager.synchronousStandbyNames = standbyNames(wanted);
  await instance.configure(manager.parameters());
}
