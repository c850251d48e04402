// Samples of the events of sessions that move: a part of EVENT_SAMPLES.
import { PIN_REASONS } from '../../../src/model/moves.ts';
import type { MoveEvent } from '../../../src/reports/move-events.ts';

type MoveSamples = {
  readonly [Kind in MoveEvent['kind']]: {
    readonly meaning: string;
    readonly samples: readonly Extract<MoveEvent, { readonly kind: Kind }>[];
  };
};

const moved = {
  kind: 'moves_finished',
  pool: 'write',
  from: 'pg-1',
  to: 'pg-2',
  moved: 42,
  ended: 0,
  longestGapMs: 420,
  durationMs: 1200,
} as const;
const moving = { pool: 'write', session: 7, cause: 'switchover' } as const;

export const MOVE_SAMPLES: MoveSamples = {
  session_asked: {
    meaning:
      'The server of a session was asked for its state. `result`: `movable`, `pinned`, or `failed` (no answer, or ' +
      'not as it must be).',
    samples: (['movable', 'pinned', 'failed'] as const).map((result) => ({
      kind: 'session_asked',
      pool: 'write',
      session: 7,
      member: 'pg-1',
      result,
      durationMs: 2,
    })),
  },
  session_parked: {
    meaning:
      'A session has left its server, and its client waits for the next one. With `hasAborted` its transaction was ' +
      'rolled back for that.',
    samples: [
      { kind: 'session_parked', ...moving, member: 'pg-1' },
      { kind: 'session_parked', ...moving, member: 'pg-1', hasAborted: true },
    ],
  },
  move_attempt_failed: {
    meaning:
      'A session is not at its next server yet: the attempt failed, and another one follows. Reported again when the ' +
      'reason is another one.',
    samples: [{ kind: 'move_attempt_failed', ...moving, detail: 'pg-2: no answer within 10 s' }],
  },
  session_moved: {
    meaning: 'A session goes on at another server. Equal `from` and `to`: it went back.',
    samples: [
      {
        kind: 'session_moved',
        ...moving,
        from: 'pg-1',
        to: 'pg-2',
        cause: 'switchover',
        gapMs: 420,
        loginMs: 6,
        wasWaiting: true,
      },
    ],
  },
  session_stayed: {
    meaning: 'A session was to move and cannot. If its member leaves the pool, it ends as without moves.',
    samples: PIN_REASONS.map((reason) => ({
      kind: 'session_stayed',
      ...moving,
      member: 'pg-1',
      reason,
      detail: 'channel jobs',
    })),
  },
  moves_finished: {
    meaning:
      'No session of the pool is parked or moving any more. The counts are of the sessions since the first of them. ' +
      '`failed`: close reasons; warn if there is one.',
    samples: [
      { ...moved, stayed: { listening: 2, temporary_objects: 1 }, failed: {} },
      { ...moved, stayed: {}, failed: { move_login: 1 }, ended: 1 },
    ],
  },
  preflight_finished: {
    meaning: 'All sessions of a member were asked whether they can move, and none was moved.',
    samples: [
      {
        kind: 'preflight_finished',
        member: 'pg-1',
        movable: 983,
        stays: { listening: 12, temporary_objects: 3 },
        unknown: 2,
        durationMs: 900,
      },
    ],
  },
};
