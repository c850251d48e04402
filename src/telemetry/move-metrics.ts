// Metrics of sessions that move. They exist only where moves are configured, or were until a reload.
import { MOVE_CAUSES, MOVE_FAILURES, isMoveFailure } from '../model/close-reason.ts';
import { PIN_REASONS } from '../model/moves.ts';
import { QUESTION_RESULTS } from '../reports/move-events.ts';
import { ofEvents, type EventMetric } from './event-totals.ts';
import { scraped, type ScrapedMetric } from './scrape.ts';

/** The results with their reasons: why a session moved, why its move failed, why it stayed. */
const RESULTS: readonly (readonly [result: string, reasons: readonly string[]])[] = [
  ['moved', MOVE_CAUSES],
  ['failed', MOVE_FAILURES],
  ['stayed', PIN_REASONS],
];
/** Seconds. */
const LOGIN_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const GAP_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

export const MOVE_METRICS: readonly EventMetric[] = [
  ofEvents(
    'pointsman_moves_total',
    'Sessions that were to move: moved (reason: why they left), failed (a close reason), or stayed (why).',
    ['pool', 'result', 'reason'],
    {
      session_moved: ({ pool, cause }) => [[{ pool, result: 'moved', reason: cause }, 1]],
      session_stayed: ({ pool, reason }) => [[{ pool, result: 'stayed', reason }, 1]],
      session_closed: ({ pool, reason }) => (isMoveFailure(reason) ? [[{ pool, result: 'failed', reason }, 1]] : []),
    },
    {
      initial: (pool) =>
        RESULTS.flatMap(([result, reasons]) => reasons.map((reason) => [{ pool, result, reason }, 0] as const)),
    },
  ),
  ofEvents(
    'pointsman_transactions_aborted_total',
    'Open transactions that were rolled back so that their sessions could move (moves.on_stays: abort), by cause.',
    ['pool', 'cause'],
    { session_parked: ({ pool, cause, hasAborted }) => (hasAborted === true ? [[{ pool, cause }, 1]] : []) },
    { initial: (pool) => MOVE_CAUSES.map((cause) => [{ pool, cause }, 0] as const) },
  ),
  ofEvents(
    'pointsman_move_seconds',
    'Moved sessions: time from the connect to the next server until their state was restored there.',
    [],
    { session_moved: ({ loginMs }) => [[{}, loginMs]] },
    { buckets: LOGIN_BUCKETS },
  ),
  ofEvents(
    'pointsman_move_gap_seconds',
    'Moved sessions: time without a server. waiting: whether the client had sent something meanwhile.',
    ['waiting'],
    { session_moved: ({ wasWaiting, gapMs }) => [[{ waiting: `${wasWaiting}` }, gapMs]] },
    { buckets: GAP_BUCKETS, initial: () => ['true', 'false'].map((waiting) => [{ waiting }, 0]) },
  ),
  ofEvents(
    'pointsman_session_questions_total',
    'Questions to servers for the state of a session, by result (failed: no answer, or not as it must be).',
    ['result'],
    { session_asked: ({ result }) => [[{ result }, 1]] },
    { initial: () => QUESTION_RESULTS.map((result) => [{ result }, 0]) },
  ),
  ofEvents(
    'pointsman_sessions_pinned',
    'Sessions that could not move at the last preflight, by reason; absent before the first.',
    ['reason'],
    { preflight_finished: ({ stays }) => PIN_REASONS.map((reason) => [{ reason }, stays[reason] ?? 0]) },
  ),
];

export const PARKED_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_sessions_parked',
    'Sessions without a server whose clients wait for the next one.',
    ['pool'],
    ({ pools, counts }) => pools.map(({ name }) => [{ pool: name }, counts.get(name)?.states.parked ?? 0]),
  ),
];
