// One worker as /status and the metrics show it.
import type { WorkerStatus } from '../reports/counts.ts';
import type { WorkerStats } from './stats.ts';
import type { WorkerProcess } from './worker-process.ts';
import type { WorkerSlot } from './worker-slot.ts';

export function workerStatus(
  { number, worker, restarts }: WorkerSlot<WorkerProcess>,
  stats: WorkerStats,
): WorkerStatus {
  return {
    number,
    pid: worker?.pid,
    isReady: worker?.hasBegun ?? false,
    startedAt: worker?.startedAt,
    restarts,
    sessions: worker === undefined ? 0 : stats.sessionsOf(worker.id),
    cpuSeconds: worker?.report?.usage.cpuSeconds ?? 0,
    residentBytes: worker?.report?.usage.residentBytes ?? 0,
  };
}
