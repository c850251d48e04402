// One sample or more of each event about late causal reads.
import { LATE_RESULTS } from '../../../src/reports/causal-reads.ts';
import type { ReadEvent } from '../../../src/reports/read-events.ts';
import type { EventSamples } from './event-samples.ts';

const late = { pool: 'read', member: 'pg-1', why: 'pg-1 is 1.2 MB behind pg-2.', readsScope: 'cluster' } as const;

export const READ_SAMPLES: Pick<EventSamples, ReadEvent['kind']> = {
  reads_late: {
    meaning:
      'Causal reads were late on a member: the first at once (`first`), and once in a second how many more. ' +
      '`result`: their sessions `moved`, they were refused (`error`), or they ran all the same (`stale`). ' +
      '`reads_scope`: whose acknowledged writes reads of the pool see (`causal_reads.scope`).',
    samples: [
      { kind: 'reads_late', ...late, result: 'moved', count: 1, isFirst: true },
      ...LATE_RESULTS.map((result) => ({ kind: 'reads_late', ...late, result, count: 170 }) as const),
    ],
  },
  reads_in_time: {
    meaning: 'No read was late on the member for 10 s. `count`: all that were, from the first to the last.',
    samples: [{ kind: 'reads_in_time', pool: 'read', member: 'pg-1', count: 340, durationMs: 12_000 }],
  },
};
