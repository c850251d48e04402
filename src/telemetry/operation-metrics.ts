// Counts the operations that take a while.
import type { Registry } from 'prom-client';
import { OPERATION_OUTCOMES } from '../reports/events.ts';
import type { OperationEvent } from '../reports/events.ts';
import { Counter, Histogram } from './prometheus.ts';

const KIND = 'switchover';
const BUCKETS = [1, 2.5, 5, 7.5, 10, 15, 20, 30, 60];

type Ended = Extract<OperationEvent, { kind: 'operation_ended' }>;

export function countOperations(registers: Registry[]): (event: Ended) => void {
  const total = new Counter({
    name: 'pointsman_operations_total',
    help: 'Operations that ended, by outcome.',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  });
  const seconds = new Histogram({
    name: 'pointsman_operation_duration_seconds',
    help: 'Duration of operations, whatever the outcome.',
    labelNames: ['kind'] as const,
    buckets: BUCKETS,
    registers,
  });
  for (const outcome of OPERATION_OUTCOMES) total.inc({ kind: KIND, outcome }, 0);
  seconds.zero({ kind: KIND });
  return ({ what, outcome, durationMs }) => {
    total.inc({ kind: what, outcome });
    seconds.observe({ kind: what }, durationMs / 1000);
  };
}
