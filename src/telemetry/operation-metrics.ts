// Counts the operations that take a while.
import { type EventOf, OPERATION_OUTCOMES } from '../reports/events.ts';
import type { Families } from './families.ts';

const KIND = 'switchover';
const BUCKETS = [1, 2.5, 5, 7.5, 10, 15, 20, 30, 60];

export function countOperations({ counter, histogram }: Families): (event: EventOf<'operation_ended'>) => void {
  const total = counter('pointsman_operations_total', 'Operations that ended, by outcome.', ['kind', 'outcome']);
  const seconds = histogram(
    'pointsman_operation_duration_seconds',
    'Duration of operations, whatever the outcome.',
    BUCKETS,
    ['kind'],
  );
  for (const outcome of OPERATION_OUTCOMES) total.inc({ kind: KIND, outcome }, 0);
  seconds.zero({ kind: KIND });
  return ({ what, outcome, durationMs }) => {
    total.inc({ kind: what, outcome });
    seconds.observe({ kind: what }, durationMs / 1000);
  };
}
