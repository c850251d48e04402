// One sample or more of each event about causal reads: the questions for WAL positions, and late reads.
import type { PositionEvent } from '../../../src/reports/position-events.ts';
import type { ReadEvent } from '../../../src/reports/read-events.ts';
import { READ_SAMPLES } from './read-samples.ts';
import type { EventSamples } from './event-samples.ts';

export const POSITION_SAMPLES: Pick<EventSamples, (PositionEvent | ReadEvent)['kind']> = {
  ...READ_SAMPLES,
  positions_connected: {
    meaning: 'A connection to a member is ready, on which it is asked for its WAL positions for causal reads.',
    samples: [{ kind: 'positions_connected', member: 'pg-1' }],
  },
  positions_failed: {
    meaning:
      'Such a connection, or the attempt at one, has failed; the next attempt follows within a second. Causal reads ' +
      'that need the member wait, and are late.',
    samples: [{ kind: 'positions_failed', member: 'pg-1', why: 'no login within 10 s (role "pointsman_monitor")' }],
  },
  positions_unused: {
    meaning: 'No causal read has needed the positions of the member for a minute: the connection is closed.',
    samples: [{ kind: 'positions_unused', member: 'pg-1' }],
  },
  positions_answered: {
    meaning:
      'The questions of a kind (`primary`, `replica`, `nudge`) that a member has answered within a second; ' +
      '`total_ms`: from each question to its answer, in sum.',
    samples: (['primary', 'replica', 'nudge'] as const).map((question) => ({
      kind: 'positions_answered',
      member: 'pg-1',
      question,
      count: 527,
      totalMs: 340,
    })),
  },
};
