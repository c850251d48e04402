// Metrics of the questions for WAL positions. They exist where `questions` is configured, or was until a
// reload.
import { ofEvents, type EventMetric } from './event-totals.ts';

export const POSITION_METRICS: readonly EventMetric[] = [
  ofEvents(
    'pointsman_position_questions_total',
    'Answered questions for WAL positions, for causal reads; nudge: the primary flushed what it had written.',
    ['member', 'kind'],
    { positions_answered: ({ member, question: kind, count }) => [[{ member, kind }, count]] },
  ),
  ofEvents(
    'pointsman_position_question_seconds_total',
    'From each of these questions to its answer, in sum.',
    ['member', 'kind'],
    { positions_answered: ({ member, question: kind, totalMs }) => [[{ member, kind }, totalMs / 1000]] },
  ),
  ofEvents(
    'pointsman_position_failures_total',
    'Connections for these questions that failed: attempts, logins, answers.',
    ['member'],
    {
      // The series exists before a failure, so that the first one shows as an increase.
      positions_connected: ({ member }) => [[{ member }, 0]],
      positions_failed: ({ member }) => [[{ member }, 1]],
    },
  ),
  ofEvents(
    'pointsman_position_failing',
    '1: reads need the WAL position of the member, and it could not be asked; 0: it could, or no read needs it now.',
    ['member'],
    {
      positions_connected: ({ member }) => [[{ member }, 0]],
      positions_failed: ({ member }) => [[{ member }, 1]],
      positions_unused: ({ member }) => [[{ member }, 0]],
    },
  ),
];
