// The reports about the worker processes.
import { expect, test } from 'vitest';
import type { WorkerStatus } from '../../../src/reports/counts.ts';
import type { WorkerEvent } from '../../../src/reports/events.ts';
import { logLine } from '../../../src/telemetry/log-lines.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aStatusSource } from '../../support/values/status-source.ts';

async function samplesOf(workers: readonly WorkerStatus[]): Promise<readonly string[]> {
  const source = aStatusSource({ workers: () => workers });
  const metrics = createMetrics({ version: '1', nodeVersion: 'v1', pools: [], ...source });
  return withoutScope(await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('pointsman_worker'));
}

test('metrics: the number of workers, and each by its slot', async () => {
  const running: WorkerStatus = {
    number: 1,
    pid: 50,
    isReady: true,
    startedAt: 0,
    restarts: 0,
    sessions: 7,
    cpuSeconds: 1.5,
    residentBytes: 5e7,
  };
  const starting = { ...running, number: 2, pid: undefined, isReady: false, restarts: 3, sessions: 0 };
  expect(await samplesOf([running, starting])).toEqual([
    'pointsman_workers 1',
    'pointsman_worker_restarts_total{worker="1"} 0',
    'pointsman_worker_restarts_total{worker="2"} 3',
    'pointsman_worker_sessions{worker="1"} 7',
    'pointsman_worker_sessions{worker="2"} 0',
    'pointsman_worker_cpu_seconds_total{worker="1"} 1.5',
    'pointsman_worker_cpu_seconds_total{worker="2"} 1.5',
    'pointsman_worker_resident_memory_bytes{worker="1"} 50000000',
    'pointsman_worker_resident_memory_bytes{worker="2"} 50000000',
  ]);
  expect(await samplesOf([])).toEqual(['pointsman_workers 0']);
});

const ended: WorkerEvent = {
  kind: 'worker_ended',
  worker: 2,
  pid: 50,
  why: 'killed by SIGKILL',
  sessions: 12,
  replacedInMs: 100,
};

test.each<[WorkerEvent, string]>([
  [{ kind: 'worker_started', worker: 2, pid: 50 }, 'info worker 2 ready, pid 50'],
  [ended, 'error worker 2 (pid 50) exited: killed by SIGKILL; 12 sessions closed with it; restarting in 100 ms'],
  [
    { ...ended, pid: undefined, sessions: 1, replacedInMs: undefined },
    'error worker 2 exited: killed by SIGKILL; 1 session closed with it',
  ],
])('log: %j', (event, expected) => {
  const { level, text } = logLine(event, true);
  expect(`${level} ${text()}`).toBe(expected);
});
