// Metrics of the worker processes, by worker number: a replacement continues the series of its predecessor.
import { Counter, Gauge } from './prometheus.ts';
import type { Registry } from 'prom-client';
import type { WorkerStatus } from '../reports/counts.ts';

/** Returns a function that updates the values. */
export function createWorkerMetrics(registers: Registry[]): (workers: readonly WorkerStatus[]) => void {
  const labelNames = ['worker'] as const;
  const count = new Gauge({
    name: 'pointsman_workers',
    help: 'Worker processes that accept clients; 0 if the main process serves them itself.',
    registers,
  });
  const restarts = new Counter({
    name: 'pointsman_worker_restarts_total',
    help: 'Times a worker was replaced.',
    labelNames,
    registers,
  });
  const sessions = new Gauge({
    name: 'pointsman_worker_sessions',
    help: 'Current client connections, by worker.',
    labelNames,
    registers,
  });
  const cpu = new Counter({
    name: 'pointsman_worker_cpu_seconds_total',
    help: 'CPU time of the worker, user and system; starts again at 0 when it is replaced.',
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
