// The processes that serve clients where that is not this one, whose own process metrics then say little. By their place: the one that
// replaces a worker takes over its series.
import { Counter, Gauge } from './prometheus.ts';
import type { Registry } from 'prom-client';
import type { WorkerStatus } from '../reports/counts.ts';

/** Returns what brings them up to date. */
export function createWorkerMetrics(registers: Registry[]): (workers: readonly WorkerStatus[]) => void {
  const labelNames = ['worker'] as const;
  const count = new Gauge({
    name: 'pointsman_workers',
    help: 'Worker processes that accept clients; 0 where this process serves them itself.',
    registers,
  });
  const restarts = new Counter({
    name: 'pointsman_worker_restarts_total',
    help: 'Workers that were started in the place of one that had ended.',
    labelNames,
    registers,
  });
  const sessions = new Gauge({
    name: 'pointsman_worker_sessions',
    help: 'Client connections now, by worker.',
    labelNames,
    registers,
  });
  const cpu = new Gauge({
    name: 'pointsman_worker_cpu_seconds',
    help: 'Processor time of the worker, user and system, since it was started.',
    labelNames,
    registers,
  });
  const memory = new Gauge({
    name: 'pointsman_worker_resident_memory_bytes',
    help: 'Resident memory of the worker.',
    labelNames,
    registers,
  });
  return (workers) => {
    count.set(workers.filter(({ isReady }) => isReady).length);
    restarts.reset();
    for (const { number, ...status } of workers) {
      const worker = String(number);
      restarts.inc({ worker }, status.restarts);
      sessions.set({ worker }, status.sessions);
      cpu.set({ worker }, status.cpuSeconds);
      memory.set({ worker }, status.residentBytes);
    }
  };
}
