// Metrics of sessions that move. They exist only where moves are configured, or were until a reload.
import type { Registry } from 'prom-client';
import { LEAVE_CAUSES, MOVE_FAILURES, OPERATION_CAUSES, isMoveFailure } from '../model/close-reason.ts';
import { PIN_REASONS } from '../model/moves.ts';
import type { PoolName } from '../model/policy.ts';
import { familiesIn, type Families } from './families.ts';
import { handle, type EventHandlers, type EventOf } from '../reports/events.ts';
import { QUESTION_RESULTS, type MoveEvent } from '../reports/move-events.ts';
import type { Scrape } from './scrape.ts';

export interface MoveMetrics {
  readonly count: (event: MoveEvent | EventOf<'session_closed'>) => void;
  /** At the scrape. */
  readonly update: (scrape: Scrape) => void;
}

/** The results with their reasons: why a session moved, why its move failed, why it stayed. */
const RESULTS: readonly (readonly [result: string, reasons: readonly string[]])[] = [
  ['moved', [...LEAVE_CAUSES, ...OPERATION_CAUSES]],
  ['failed', MOVE_FAILURES],
  ['stayed', PIN_REASONS],
];
/** Seconds. */
const LOGIN_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const GAP_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

/** The first update creates the series. */
export function createMoveMetrics(registry: Registry): MoveMetrics {
  const families = moveFamilies(familiesIn(registry));
  const counted = counters(families);
  const known = new Set<PoolName>();
  const learn = (pool: PoolName): void => {
    if (known.has(pool)) return;
    known.add(pool);
    for (const [result, reasons] of RESULTS) {
      for (const reason of reasons) families.moves.inc({ pool, result, reason }, 0);
    }
  };
  for (const result of QUESTION_RESULTS) families.questions.inc({ result }, 0);
  for (const waiting of ['true', 'false']) families.gapSeconds.zero({ waiting });
  return {
    count: (event) => handle(counted, event),
    update: ({ pools, counts }) => {
      for (const { name: pool } of pools) {
        learn(pool);
        families.parked.set({ pool }, counts.get(pool)?.states.parked ?? 0);
      }
    },
  };
}

function counters({ moves, questions, pinned, ...families }: ReturnType<typeof moveFamilies>): EventHandlers {
  return {
    session_moved: ({ pool, cause, loginMs, gapMs, wasWaiting }) => {
      moves.inc({ pool, result: 'moved', reason: cause });
      families.loginSeconds.observe(loginMs / 1000);
      families.gapSeconds.observe({ waiting: `${wasWaiting}` }, gapMs / 1000);
    },
    session_stayed: ({ pool, reason }) => moves.inc({ pool, result: 'stayed', reason }),
    session_closed: ({ pool, reason }) => {
      if (isMoveFailure(reason)) moves.inc({ pool, result: 'failed', reason });
    },
    session_asked: ({ result }) => questions.inc({ result }),
    preflight_finished: ({ stays }) => {
      for (const reason of PIN_REASONS) pinned.set({ reason }, stays[reason] ?? 0);
    },
  };
}

function moveFamilies({ counter, gauge, histogram }: Families) {
  return {
    moves: counter(
      'pointsman_moves_total',
      'Sessions that were to move: moved (reason: why they left), failed (a close reason), or stayed (why).',
      ['pool', 'result', 'reason'],
    ),
    parked: gauge('pointsman_sessions_parked', 'Sessions without a server whose clients wait for the next one.', [
      'pool',
    ]),
    loginSeconds: histogram(
      'pointsman_move_seconds',
      'Moved sessions: time from the connect to the next server until their state was restored there.',
      LOGIN_BUCKETS,
    ),
    gapSeconds: histogram(
      'pointsman_move_gap_seconds',
      'Moved sessions: time without a server. waiting: whether the client had sent something meanwhile.',
      GAP_BUCKETS,
      ['waiting'],
    ),
    questions: counter(
      'pointsman_session_questions_total',
      'Questions to servers for the state of a session, by result (failed: no answer, or not as it must be).',
      ['result'],
    ),
    pinned: gauge(
      'pointsman_sessions_pinned',
      'Sessions that could not move at the last preflight, by reason; absent before the first.',
      ['reason'],
    ),
  };
}
