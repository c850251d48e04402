// Metrics of the worker processes, by worker number: a replacement continues the series of its predecessor.
import type { Families } from './families.ts';
import type { WorkerStatus } from '../reports/counts.ts';

/** Returns a function that updates the values. */
export function createWorkerMetrics({ counter, gauge }: Families): (workers: readonly WorkerStatus[]) => void {
  const labels = ['worker'] as const;
  const count = gauge(
    'pointsman_workers',
    'Worker processes that accept clients; 0 if the main process serves them itself.',
  );
  const restarts = counter('pointsman_worker_restarts_total', 'Times a worker was replaced.', labels);
  const sessions = gauge('pointsman_worker_sessions', 'Current client connections, by worker.', labels);
  const cpu = counter(
    'pointsman_worker_cpu_seconds_total',
    'CPU time of the worker, user and system; starts again at 0 when it is replaced.',
    labels,
  );
  const memory = gauge('pointsman_worker_resident_memory_bytes', 'Resident memory of the worker.', labels);
  return (workers) => {
    count.set(workers.filter(({ isReady }) => isReady).length);
    for (const total of [restarts, cpu]) total.reset();
    for (const { number, ...status } of workers) {
      const worker = String(number);
      restarts.inc({ worker }, status.restarts);
      sessions.set({ worker }, status.sessions);
      cpu.inc({ worker }, status.cpuSeconds);
      memory.set({ worker }, status.residentBytes);
    }
  };
}
