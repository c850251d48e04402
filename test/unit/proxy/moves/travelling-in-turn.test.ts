// Two sessions on their way to the same server, one login at a time, on simulated hosts. The one that was parked last
// has the first turn.
import { test } from 'vitest';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { CONNECTED } from '../../../support/labs/step-scripts.ts';

const ONE = { moves: { concurrent: 1 } } as const;
const ONE_A_SECOND = { moves: { concurrent: 1, perSecond: 1 } } as const;
const BOTH_PARKED = 'asked: movable · parked: switchover · other asked: movable · other parked: switchover';
const PARKED = `${CONNECTED}
  other connects        | reaches pg-1 · idle
  pg-1 hands over       | ${BOTH_PARKED} · leaves pg-1 · waits for a route: no eligible member`;

test('a route that is gone is no failure: it has the next turn as well', () =>
  expectQuickScript(
    `${PARKED}
  pg-2 becomes silent   | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · waits for its turn (moves.concurrent, moves.per_second)
  nobody opens          | leaves pg-2 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · waits for its turn (moves.concurrent, moves.per_second)
  nobody opens          | leaves pg-2 · waits for a route: no eligible member
  pg-2 becomes movable  | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · other moved to pg-2 · moved to pg-2 · idle`,
    ONE,
  ));

test('a server that turns one away is asked by the other at once', () =>
  expectQuickScript(
    `${PARKED}
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · pg-2 is probed · leaves pg-2
                        | waits for its next attempt (pg-2: 53300 sorry, too many clients already)`,
    ONE,
  ));

test('the end of one that waits for its turn leaves the turn to the other', () =>
  expectQuickScript(
    `${PARKED}
  other leaves          | other closed: client_reset · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · idle`,
    ONE,
  ));

test('the end of one that logs in leaves the turn to the other', () =>
  expectQuickScript(
    `${PARKED}
  pg-2 becomes silent   | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · waits for its turn (moves.concurrent, moves.per_second)
  pg-2 becomes movable  | waits for its turn (moves.concurrent, moves.per_second)
  other leaves          | reaches pg-2 · other closed: client_reset · moved to pg-2 · leaves pg-2 · idle`,
    ONE,
  ));

test('one whose client waits comes first', () =>
  expectQuickScript(
    `${PARKED}
  client queries        | its client waits for a route: no eligible member
  pg-2 becomes silent   | its client waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · its client moving`,
    ONE,
  ));

test('one whose client had not sent the rest of a cancelled statement was not turned away', () =>
  expectQuickScript(
    `${CONNECTED}
  other connects        | reaches pg-1 · idle
  1 s pass              | idle
  client queries        | client reads its answer · idle
  pg-1 hands over       | other asked: movable · other parked: switchover · asked: movable · parked: switchover
                        | leaves pg-1 · waits for a route: no eligible member
  1 s pass              | waits for a route: no eligible member
  client sends half of a query | its client waits for a route: no eligible member
  client cancels        | closed: cancel_forwarded · client reads 57014 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · leaves pg-2
                        | waits for its next attempt (the rest of a cancelled statement has not come)
  client sends the rest | waits for its turn (moves.concurrent, moves.per_second)
  990 ms pass           | reaches pg-2 · moved to pg-2 · idle
  1 s pass              | reaches pg-2 · other moved to pg-2 · idle`,
    ONE_A_SECOND,
  ));

test('one that reads that its transaction was ended has not been turned away', () =>
  expectQuickScript(
    `${CONNECTED}
  other connects        | reaches pg-1 · idle
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  10 s pass             | other asked: movable · other parked: switchover · asked: movable
                        | parked: switchover, aborted · leaves pg-1
                        | waits for the next request of its client, which reads that its transaction was ended
  client queries        | client reads 40001 · waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · in_failed_transaction
  1 s pass              | reaches pg-2 · other moved to pg-2 · in_failed_transaction`,
    { moves: { ...ONE_A_SECOND.moves, onStays: 'abort' } },
  ));

test('one that was turned away never comes before a client that waits for its first attempt', () =>
  expectQuickScript(
    `${PARKED}
  pg-2 becomes full     | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · pg-2 is probed · leaves pg-2
                        | waits for its turn (moves.concurrent, moves.per_second)
  pg-2 becomes movable  | waits for its turn (moves.concurrent, moves.per_second)
  other queries         | waits for its turn (moves.concurrent, moves.per_second)
  300 ms pass           | waits for its turn (moves.concurrent, moves.per_second)
  client queries        | its client waits for its turn (moves.concurrent, moves.per_second)
  600 ms pass           | its client waits for its turn (moves.concurrent, moves.per_second)
  100 ms pass           | reaches pg-2 · moved to pg-2 · client reads its answer · idle
  1 s pass              | reaches pg-2 · other moved to pg-2 · idle`,
    ONE_A_SECOND,
  ));
